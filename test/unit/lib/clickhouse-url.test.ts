import { describe, expect, it } from 'vitest';
import { parseClickHouseUrl } from '../../../src/lib/clickhouse-url.ts';

describe('the URL of a ClickHouse server', () => {
  it('needs no more than a host', () => {
    expect(parseClickHouseUrl('http://store:8123')).toEqual({
      origin: 'http://store:8123',
      username: 'default',
      password: '',
      database: undefined,
      tls: undefined,
      compressRequests: false,
    });
  });

  it('holds credentials, a database, certificates and compression', () => {
    const url =
      'https://mill%40race:p%3A%2F%23@[::1]:8443/base?ca=/c.pem&cert=/e.pem&key=/k.pem&compression=gzip';
    expect(parseClickHouseUrl(url)).toEqual({
      origin: 'https://[::1]:8443',
      username: 'mill@race',
      password: 'p:/#',
      database: 'base',
      tls: { caFile: '/c.pem', client: { certFile: '/e.pem', keyFile: '/k.pem' } },
      compressRequests: true,
    });
    expect(parseClickHouseUrl('https://store?ca=c.pem').tls).toEqual({ caFile: 'c.pem', client: undefined });
  });

  it.each([
    ['store:8123', 'its scheme is store:'],
    ['//store', 'it is not a URL'],
    ['tcp://store:9000', 'its scheme is tcp:'],
    ['http://store/a/b', 'more than the name of a database'],
    ['http://store#x', 'it has a fragment'],
    ['http://store?compress=1', 'the parameter "compress"; known are ca, cert, key, compression'],
    ['http://store?compression=zstd', 'compression may only be gzip'],
    ['http://store?ca=/c.pem', 'ca, cert and key need https'],
    ['https://store?ca=', 'its parameter ca is empty'],
    ['https://store?ca=a&ca=b', 'the parameter ca twice'],
    ['https://store?ca=a&cert=b', 'cert and key must be set together'],
    ['https://store?cert=a&key=b', 'cert and key also need ca'],
    ['http://user:50%@store', 'its password has a %'],
  ])('refuses %s, saying why', (url, reason) => {
    expect(() => parseClickHouseUrl(url)).toThrow(reason);
  });

  it.each(['http://u:sec%ret@store', 'http://u:secret@store?x=1', 'secret', 'ftp://u:secret@store'])(
    'does not repeat the secret of %s',
    (url) => {
      expect(() => parseClickHouseUrl(url)).toThrow(/^(?!.*(secret|sec%ret))/);
    },
  );
});
