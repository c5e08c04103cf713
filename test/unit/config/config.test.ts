import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { helpText, readCommand } from '../../../src/config/config.ts';
import { defaultQueryMemoryBytes } from '../../../src/config/memory.ts';
import { ConfigError } from '../../../src/config/option.ts';
import { removeFolder, temporaryFolder } from '../../support/lib/child.ts';

const read = (args: string[], environment: NodeJS.ProcessEnv = {}) => {
  const command = readCommand(args, environment);
  if (command.name !== 'serve') throw new Error(`expected serve, not ${command.name}`);
  return command.config;
};

describe('the configuration', () => {
  it('has defaults for everything but the password', () => {
    const config = read([]);
    expect(config.httpAddr).toEqual({ host: '127.0.0.1', port: 8000 });
    expect(config.adminPassword).toBeUndefined();
    expect(config.flushIntervalMs).toBe(1000);
    expect([config.metricsAddr, config.metricsAuth, config.watchdogMs]).toEqual([undefined, 'none', 30_000]);
    expect(read(['--watchdog-ms', '0']).watchdogMs).toBe(0);
    expect(Object.isFrozen(config)).toBe(true);
  });

  it('prefers a flag to the environment, and takes both spellings of a flag', () => {
    const environment = { MILLRACE_HTTP_ADDR: '0.0.0.0:9000' };
    expect(read([], environment).httpAddr.port).toBe(9000);
    expect(read(['--http-addr', 'localhost:1'], environment).httpAddr).toEqual({
      host: 'localhost',
      port: 1,
    });
    expect(read(['--http-addr=[::1]:2'], environment).httpAddr).toEqual({ host: '::1', port: 2 });
  });

  it('reads sizes with their units', () => {
    expect(read(['--wal-max-bytes', '2GiB']).walMaxBytes).toBe(2 ** 31);
    expect(read(['--max-body-bytes', '1048576']).maxBodyBytes).toBe(2 ** 20);
  });

  it('trusts the proxies that it is told of, and none otherwise', () => {
    expect(read([]).trustedProxies).toBeUndefined();
    const { trustedProxies } = read([], { MILLRACE_TRUSTED_PROXIES: '10.0.0.0/8,::1' });
    expect(trustedProxies?.check('10.1.2.3')).toBe(true);
    expect(trustedProxies?.check('192.0.2.1')).toBe(false);
  });

  it('lets a query use an eighth of the memory, within bounds, unless told otherwise', () => {
    const [MiB, GiB] = [2 ** 20, 2 ** 30];
    expect([0.5, 1, 2, 3, 4, 24].map((gib) => defaultQueryMemoryBytes(gib * GiB) / MiB)).toEqual([
      128, 128, 256, 384, 384, 384,
    ]);
    expect(read([]).queryMaxMemoryBytes).toBe(defaultQueryMemoryBytes());
  });

  it('lets all queries use twice the memory of one unless told otherwise', () => {
    expect(read(['--query-max-memory-bytes', '3GiB']).queryMaxTotalMemoryBytes).toBe(6 * 2 ** 30);
    const both = read(['--query-max-memory-bytes', '3GiB', '--query-max-total-memory-bytes', '4GiB']);
    expect([both.queryMaxMemoryBytes, both.queryMaxTotalMemoryBytes]).toEqual([3 * 2 ** 30, 4 * 2 ** 30]);
  });

  it('tells the process of the engine nothing that it need not know', () => {
    const environment = {
      TZ: 'Asia/Tokyo',
      HOME: '/root',
      MILLRACE_ADMIN_PASSWORD: 'correct horse',
      AWS_SECRET: 'x',
    };
    expect(read([], environment).engineEnvironment).toEqual({ TZ: 'Asia/Tokyo' });
  });

  it('bounds no rate unless told to', () => {
    expect(read([]).tenantIngestBytesPerSecond).toBe(Number.POSITIVE_INFINITY);
    const config = read([
      '--tenant-ingest-bytes-per-second',
      '10MiB',
      '--dataset-ingest-bytes-per-second=unlimited',
    ]);
    expect(config.tenantIngestBytesPerSecond).toBe(10 * 2 ** 20);
    expect(config.datasetIngestBytesPerSecond).toBe(Number.POSITIVE_INFINITY);
  });

  it.each([
    ['--http-addr', 'nowhere'],
    ['--http-addr', 'host:70000'],
    ['--workers', '0'],
    ['--workers', '1.5'],
    ['--flush-interval-ms', '10'],
    ['--wal-max-bytes', '5'],
    ['--wal-max-bytes', '2GB'],
    ['--log-level', 'loud'],
    ['--watchdog-ms', '10'],
    ['--metrics-auth', 'yes'],
    ['--metrics-addr', '9100'],
    ['--dataset-ingest-bytes-per-second', '0'],
    ['--max-datasets', 'all'],
    ['--max-columns', '1'],
    ['--admin-username', 'a:b'],
    ['--data-dir', ''],
    ['--trusted-proxies', '10.0.0.0/33'],
  ])('refuses %s %s, naming the flag, the value and what is allowed', (flag, value) => {
    expect(() => read([flag, value])).toThrow(ConfigError);
    try {
      read([flag, value]);
    } catch (error) {
      const { message } = error as Error;
      expect(message).toContain(`${flag} is ${JSON.stringify(value)}`);
      expect(message).toContain('Allowed: ');
    }
  });

  it('names the variable when the value came from the environment', () => {
    expect(() => read([], { MILLRACE_WORKERS: 'many' })).toThrow('MILLRACE_WORKERS is "many"');
  });

  it('does not repeat a secret', () => {
    expect(() => read(['--admin-password', 'short'])).toThrow(/^(?!.*short)/);
  });

  it('takes a ClickHouse server, and says what is wrong with its URL but not the URL', () => {
    expect(read([]).clickhouseUrl).toBeUndefined();
    const url = 'https://u:secret@store:8443';
    expect(read([], { MILLRACE_CLICKHOUSE_URL: url }).clickhouseUrl?.origin).toBe('https://store:8443');
    const wrong = () => read(['--clickhouse-url', `${url}?compres=gzip`]);
    expect(wrong).toThrow(ConfigError);
    expect(wrong).toThrow(/^--clickhouse-url cannot be used, because it has the parameter "compres"/);
    expect(wrong).toThrow(/^(?!.*secret)/);
  });

  describe('of an identity provider', () => {
    const both = { MILLRACE_OIDC_ISSUER: 'https://id.example.com/realm', MILLRACE_OIDC_CLIENT_ID: 'me' };

    it('is none by default, and otherwise the issuer and the client', () => {
      expect(read([]).oidc).toBeUndefined();
      expect(read([], both).oidc).toEqual({
        issuer: new URL('https://id.example.com/realm'),
        clientId: 'me',
        clientSecret: undefined,
        audience: 'me',
        scope: 'openid profile email',
        rolesClaim: 'roles',
        sessionLifetimeMs: 3_600_000,
        publicOrigin: undefined,
      });
    });

    it('takes one without the other for a mistake', () => {
      expect(() => read(['--oidc-client-id', 'me'])).toThrow(ConfigError);
      expect(() => read(['--oidc-issuer', 'https://id.example.com'])).toThrow('belong together');
    });

    it('talks plain HTTP with nobody but this machine', () => {
      const issuer = (text: string) => read(['--oidc-issuer', text], both).oidc?.issuer.href;
      expect(issuer('http://127.0.0.1:9000')).toBe('http://127.0.0.1:9000/');
      expect(issuer('http://[::1]:9000/x')).toBe('http://[::1]:9000/x');
      for (const text of [
        'http://id.example.com',
        'http://127.0.0.1.example.com',
        'https://a:b@id.example.com',
        'https://id.example.com?x',
        'id',
      ]) {
        expect(() => issuer(text)).toThrow(ConfigError);
      }
    });

    it.each([
      ['--oidc-scope', 'profile'],
      ['--oidc-scope', 'openid  profile'],
      ['--public-url', 'https://logs.example.com/path'],
      ['--public-url', 'logs.example.com'],
      ['--oidc-session-ms', '1'],
      ['--oidc-roles-claim', ''],
    ])('refuses %s %s', (flag, value) => {
      expect(() => read([flag, value], both)).toThrow(`${flag} is ${JSON.stringify(value)}`);
    });

    it('does not repeat its secret', () => {
      expect(() => read(['--oidc-client-secret', 'ä secret'], both)).toThrow(
        /^(?!.*secret").*cannot be used/,
      );
    });
  });

  describe('secrets in files', () => {
    const folder = temporaryFolder('config-secrets');
    afterAll(() => removeFolder(folder));
    const path = join(folder, 'secret');
    const write = (text: string) => {
      writeFileSync(path, text);
      return path;
    };

    it.each(['\n', '\r\n', ''])('are read without the line break at their end: %j', (end) => {
      const file = write(`correct horse ${end}`);
      expect(read(['--admin-password-file', file]).adminPassword).toBe('correct horse ');
      expect(read([], { MILLRACE_ADMIN_PASSWORD_FILE: file }).adminPassword).toBe('correct horse ');
      expect(read([], { MILLRACE_SECRET_FILE: write(`${'s'.repeat(40)}${end}`) }).secret).toBe(
        's'.repeat(40),
      );
    });

    it('are checked like those that are given, and not repeated', () => {
      const file = write('short');
      expect(() => read([], { MILLRACE_ADMIN_PASSWORD_FILE: file })).toThrow(
        /^MILLRACE_ADMIN_PASSWORD_FILE cannot be used(?!.*short)/,
      );
    });

    it('cannot be given both ways', () => {
      const file = write('correct horse');
      const both = { MILLRACE_ADMIN_PASSWORD: 'correct horse', MILLRACE_ADMIN_PASSWORD_FILE: file };
      expect(() => read([], both)).toThrow(
        'MILLRACE_ADMIN_PASSWORD and MILLRACE_ADMIN_PASSWORD_FILE are both set; set one of them',
      );
      expect(() =>
        read(['--admin-password-file', file], { MILLRACE_ADMIN_PASSWORD: 'correct horse' }),
      ).toThrow(ConfigError);
    });

    it('that cannot be read, or are no secret, are refused with the variable', () => {
      const read1 = (file: string) => () => read([], { MILLRACE_SECRET_FILE: file });
      expect(read1(join(folder, 'none'))).toThrow(/^MILLRACE_SECRET_FILE names a file that cannot be read/);
      expect(read1(folder)).toThrow(/^MILLRACE_SECRET_FILE names a file that cannot be read/);
      expect(read1(write('x'.repeat(70_000)))).toThrow('larger than 65536 bytes');
    });

    it('are no way for other options', () => {
      expect(() => read(['--data-dir-file', path])).toThrow('--data-dir-file is not an option');
    });
  });

  describe('variables that nobody knows', () => {
    const warnings = (environment: NodeJS.ProcessEnv) => {
      const command = readCommand([], environment);
      return command.name === 'serve' ? command.warnings : [];
    };

    it.each([
      ['MILLRACE_HTTP_ADR', 'MILLRACE_HTTP_ADDR'],
      ['MILLRACE_HTTP_ADDRESS', 'MILLRACE_HTTP_ADDR'],
      ['MILLRACE_DATADIR', 'MILLRACE_DATA_DIR'],
      ['MILRACE_WORKERS', 'MILLRACE_WORKERS'],
      ['millrace_workers', 'MILLRACE_WORKERS'],
      ['MILLRACE_ADMIN_PASSWORD_FIL', 'MILLRACE_ADMIN_PASSWORD_FILE'],
    ])('%s is %s misspelt', (name, meant) => {
      expect(() => warnings({ [name]: 'secret' })).toThrow(ConfigError);
      expect(() => warnings({ [name]: 'secret' })).toThrow(
        `the environment has ${name}, which millrace does not know; did you mean ${meant}?`,
      );
    });

    it('are a warning where they are like none, since a newer version may know them', () => {
      expect(warnings({ MILLRACE_COLOUR_OF_LOGS: 'blue', PATH: '/bin' })).toEqual([
        'the environment has MILLRACE_COLOUR_OF_LOGS, which millrace does not know',
      ]);
    });

    it('are left alone where Kubernetes sets them for a Service of this name', () => {
      const links = {
        MILLRACE_SERVICE_HOST: '10.0.0.1',
        MILLRACE_SERVICE_PORT: '8000',
        MILLRACE_SERVICE_PORT_HTTP: '8000',
        MILLRACE_PORT: 'tcp://10.0.0.1:8000',
        MILLRACE_PORT_8000_TCP: 'tcp://10.0.0.1:8000',
        MILLRACE_PORT_8000_TCP_PROTO: 'tcp',
        MILLRACE_PORT_8000_TCP_PORT: '8000',
        MILLRACE_PORT_8000_TCP_ADDR: '10.0.0.1',
      };
      expect(warnings(links)).toEqual([]);
      expect(warnings({ MILLRACE_PORT: '8000' })).toHaveLength(1);
    });

    it('as flags get a suggestion, too', () => {
      expect(() => read(['--http-adr', 'x'])).toThrow(
        '--http-adr is not an option of millrace; did you mean --http-addr?',
      );
    });
  });

  it('refuses unknown flags and flags without a value', () => {
    expect(() => read(['--http-port', '1'])).toThrow('--http-port is not an option');
    expect(() => read(['serve'])).toThrow('serve is not an option');
    expect(() => read(['--workers'])).toThrow('--workers needs a value');
  });

  it.each([
    [['dead', 'list'], { verb: 'list' }],
    [['dead', 'retry', 'a', 'b'], { verb: 'retry', names: ['a', 'b'] }],
    [['dead', 'retry', '--all'], { verb: 'retry', names: 'all' }],
    [['dead', 'drop', 'a', '--yes'], { verb: 'drop', names: ['a'] }],
    [['dead', 'drop', '--yes', '--all'], { verb: 'drop', names: 'all' }],
  ])('%j is a command on the dead letters, with the options of all', (args, action) => {
    const command = readCommand([...args, '--data-dir', '/there'], { MILLRACE_LOG_LEVEL: 'debug' });
    expect(command).toMatchObject({ name: 'dead', action, config: { dataDir: '/there', logLevel: 'debug' } });
  });

  it.each([
    [['dead'], 'list, retry <name>…, drop <name>… --yes'],
    [['dead', 'bury'], 'list, retry <name>…, drop <name>… --yes'],
    [['dead', 'list', 'a'], 'list, retry <name>…, drop <name>… --yes'],
    [['dead', 'retry'], 'dead retry takes names as millrace dead list shows them, or --all'],
    [['dead', 'retry', 'a', '--all'], 'dead retry takes names'],
    [['dead', 'drop', '--yes'], 'dead drop takes names'],
    [['dead', 'drop', '--all'], 'add --yes'],
    [['--all'], '--all is not an option of millrace'],
    [['dead', 'list', '--workers=0'], '--workers is "0"'],
  ])('%j is refused', (args, message) => {
    expect(() => readCommand(args, {})).toThrow(ConfigError);
    expect(() => readCommand(args, {})).toThrow(message);
  });

  it('says where notifications may go, and how mail is sent', () => {
    const networks = { MILLRACE_TARGET_ALLOWED_NETWORKS: '10.0.0.0/8, ::1' };
    expect(read([], networks).targetAllowedNetworks?.texts).toEqual(['10.0.0.0/8', '::1']);
    expect(() => read([], { MILLRACE_TARGET_ALLOWED_NETWORKS: '10.0.0.0/33' })).toThrow(ConfigError);
    const mail = {
      MILLRACE_SMTP_URL: 'smtps://user:p%40ss@mail.example.com',
      MILLRACE_SMTP_FROM: 'a@example.com',
    };
    const config = read([], { ...mail, MILLRACE_SMTP_DOMAINS: 'Example.com, example.org' });
    expect([config.smtpUrl?.hostname, config.smtpFrom]).toEqual(['mail.example.com', 'a@example.com']);
    expect(config.smtpDomains).toEqual(new Set(['example.com', 'example.org']));
    expect(() => read([], { MILLRACE_SMTP_URL: mail.MILLRACE_SMTP_URL })).toThrow('belong together');
    for (const bad of ['mail.example.com', 'http://mail.example.com', 'smtp://user:%zz@hidden'])
      expect(() => read([], { ...mail, MILLRACE_SMTP_URL: bad })).toThrow(
        /^MILLRACE_SMTP_URL cannot be used: /,
      );
    expect(() => read([], { ...mail, MILLRACE_SMTP_FROM: 'a@b\r\nBcc: c@d' })).toThrow(ConfigError);
  });

  it('lists every option in the help', () => {
    const help = helpText();
    for (const verb of ['list', 'retry', 'drop']) expect(help).toContain(`millrace dead ${verb}`);
    const { engineEnvironment: _, ...byOption } = read([]);
    for (const name of Object.keys(byOption)) {
      const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
      expect(help).toContain(flag);
    }
  });
});
