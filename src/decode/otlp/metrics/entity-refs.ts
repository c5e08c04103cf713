import { fieldTag, ProtobufReader, type TextRange } from '../../wire/protobuf-reader.ts';

const entityRefs = fieldTag(3, 'bytes');
const schemaUrl = fieldTag(1, 'bytes');
const type = fieldTag(2, 'bytes');
const idKeys = fieldTag(3, 'bytes');
const descriptionKeys = fieldTag(4, 'bytes');

/** The entities that a resource refers to, as JSON text; empty if there are none. */
export function entityRefsText(message: Buffer, resource: TextRange): string {
  const reader = new ProtobufReader(message);
  const refs: object[] = [];
  reader.position = resource.start;
  while (reader.position < resource.end) {
    const tag = reader.tag(resource.end);
    if (tag === entityRefs) refs.push(readEntityRef(reader, reader.lengthEnd(resource.end)));
    else reader.skip(tag, resource.end);
  }
  return refs.length === 0 ? '' : JSON.stringify(refs);
}

function readEntityRef(reader: ProtobufReader, end: number): object {
  const ref = { schemaUrl: '', type: '', idKeys: [] as string[], descriptionKeys: [] as string[] };
  const text = (): string => {
    const textEnd = reader.lengthEnd(end);
    const { position } = reader;
    reader.position = textEnd;
    return reader.bytes.toString('utf8', position, textEnd);
  };
  while (reader.position < end) {
    const tag = reader.tag(end);
    if (tag === schemaUrl) ref.schemaUrl = text();
    else if (tag === type) ref.type = text();
    else if (tag === idKeys) ref.idKeys.push(text());
    else if (tag === descriptionKeys) ref.descriptionKeys.push(text());
    else reader.skip(tag, end);
  }
  return ref;
}
