import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ServerSentEvents } from '../../../src/console/api/server-sent-events.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const read = (text: string, lastId = '') => {
  const parser = new ServerSentEvents(lastId);
  const events = parser.push(bytesOf(text)).map(({ event, data }) => [event, data]);
  return { events, lastId: parser.lastId };
};

describe('server-sent events', () => {
  it.each([
    ['a row', 'id: 7.1.x\ndata: {"a":1}\n\n', [['message', '{"a":1}']], '7.1.x'],
    [
      'names',
      'event: skipped\ndata: {"rows":2}\n\nevent: end\ndata: {}\n\n',
      [
        ['skipped', '{"rows":2}'],
        ['end', '{}'],
      ],
      '',
    ],
    [
      'a name is of one event alone',
      'event: end\ndata: 1\n\ndata: 2\n\n',
      [
        ['end', '1'],
        ['message', '2'],
      ],
      '',
    ],
    ['comments', ': live tail\n\n:\n\ndata: 1\n:in between\ndata: 2\n\n', [['message', '1\n2']], ''],
    ['data of several lines', 'data: a\ndata:b\ndata:  c\ndata\n\n', [['message', 'a\nb\n c\n']], ''],
    [
      'line ends of each kind',
      'data: a\r\rdata: b\r\n\r\ndata: c\n\n',
      [
        ['message', 'a'],
        ['message', 'b'],
        ['message', 'c'],
      ],
      '',
    ],
    ['an id without data is no event', ': live tail\n\nid: 3.0.x\n\n', [], '3.0.x'],
    ['an event without data is none', 'event: end\n\ndata: 1\n\n', [['message', '1']], ''],
    ['what is incomplete is not read', 'id: 1\ndata: 1\n\nid: 2\ndata: 2\n', [['message', '1']], '1'],
    ['an id that no header could hold', 'id: 1\0\ndata: 1\n\n', [['message', '1']], ''],
    [
      'an id that is taken back',
      'id: 1\ndata: 1\n\nid\ndata: 2\n\n',
      [
        ['message', '1'],
        ['message', '2'],
      ],
      '',
    ],
    ['unknown fields, and a byte order mark', '\u{feff}retry: 5\nother\ndata: 1\n\n', [['message', '1']], ''],
  ])('%s', (_name, text, events, lastId) => {
    expect(read(text)).toEqual({ events, lastId });
  });

  it('keeps the id that the stream began behind until it has another', () => {
    expect(read('data: 1\n\n', '5').lastId).toBe('5');
    expect(read('id: 6\ndata: 1\n', '5').lastId).toBe('5');
    expect(read('id: 6\ndata: 1\n\n', '5').lastId).toBe('6');
  });

  it('finds the same in parts that are cut anywhere, in characters and line ends too', () => {
    const pieces = [
      'data: ',
      'data',
      'id: 4',
      'event: end',
      'Grüße 🚀',
      ':',
      ' ',
      '\n',
      '\r',
      '\r\n',
      '\n\n',
    ];
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...pieces), { maxLength: 40 }),
        fc.array(fc.nat(200), { maxLength: 10 }),
        (texts, cuts) => {
          const text = texts.join('');
          const bytes = bytesOf(text);
          const parser = new ServerSentEvents();
          const ends = [...cuts.filter((cut) => cut < bytes.length), bytes.length].toSorted((a, b) => a - b);
          const events = ends.flatMap((end, index) => parser.push(bytes.subarray(ends[index - 1] ?? 0, end)));
          expect({
            events: events.map(({ event, data }) => [event, data]),
            lastId: parser.lastId,
          }).toEqual(read(text));
        },
      ),
    );
  });

  it('refuses an event that is too long, of one line or of many', () => {
    const parser = () => new ServerSentEvents('', 100);
    expect(() => parser().push(bytesOf(`data: ${'x'.repeat(100)}`))).toThrow(RangeError);
    expect(() => parser().push(bytesOf('data: 1\n'.repeat(20)))).toThrow(RangeError);
    expect(parser().push(bytesOf('data: 1\n\n'.repeat(20)))).toHaveLength(20);
  });
});
