import { describe, expect, test } from 'vitest';
import type { CatalogView, DatasetInfo } from '../../../src/catalog/dataset-entry.ts';
import { TenantVersions } from '../../../src/catalog/tenant-versions.ts';
import type { AppError } from '../../../src/errors.ts';
import { limits } from '../../../src/limits/limits.ts';
import { defaultTenant } from '../../../src/model/dataset.ts';
import type { Principal, Privilege, ReadableRows } from '../../../src/model/identity.ts';
import { Translator } from '../../../src/query/translator.ts';
import type { ParameterValue } from '../../../src/sql/parameters.ts';
import { InlineTranslations } from '../../support/sql/inline-translations.ts';

const secondMicros = 1_000_000;

/** A catalog that changes, and translations that are counted. */
class Rig {
  readonly versions = new TenantVersions();
  readonly translations = new InlineTranslations();
  readable: (principal: Principal, dataset: string) => ReadableRows = () => 'all';
  readonly columns = new Map([['level:str', { name: 'level:str', type: 'Nullable(String)' }]]);
  readonly translator: Translator;

  constructor() {
    const info = (tenant: string, name: string): DatasetInfo => ({
      tenant,
      name,
      id: name,
      kind: name === 'm' ? 'metrics' : 'events',
      columns: this.columns,
      ready: true,
    });
    const catalog: CatalogView = {
      version: (tenant) => this.versions.of(tenant),
      get: (tenant, name) => (['app', 'm'].includes(name) ? info(tenant, name) : undefined),
      list: (tenant) => [info(tenant, 'app'), info(tenant, 'm')],
    };
    this.translator = new Translator({
      catalog,
      translations: this.translations,
      readableRows: (principal, dataset) => this.readable(principal, dataset),
      storedSizes: () => Promise.resolve(undefined),
      waitForPending: () => Promise.resolve(false),
    });
  }

  async sql(
    sql: string,
    {
      privileges = [{ privilege: 'reader' }] as readonly Privilege[],
      tenant = defaultTenant,
      startMicros = undefined as number | undefined,
      endMicros = undefined as number | undefined,
      nowMicros = 0,
      parameters = [] as readonly ParameterValue[],
    } = {},
  ): Promise<string> {
    const principal: Principal = { kind: 'user', name: 'u', tenant, privileges };
    const times = { startMicros, endMicros, nowMicros };
    return (await this.translator.translate({ principal, tenant, sql, times, parameters })).sql;
  }

  async describe(sql: string, parameterTypes?: readonly number[]) {
    const principal: Principal = {
      kind: 'user',
      name: 'u',
      tenant: defaultTenant,
      privileges: [{ privilege: 'reader' }],
    };
    const times = { startMicros: undefined, endMicros: undefined, nowMicros: 0 };
    return await this.translator.describe({ principal, tenant: defaultTenant, sql, times, parameterTypes });
  }
}

describe('a translation that is remembered', () => {
  test('is made once', async () => {
    const rig = new Rig();
    const first = await rig.sql('select level from app');
    expect(await rig.sql('select level from app')).toBe(first);
    expect(rig.translations.count).toBe(1);
    await rig.sql('select level as l from app');
    expect(rig.translations.count).toBe(2);
  });

  test('freezes no moment: neither now() nor the range', async () => {
    const rig = new Rig();
    const query = "select now() - interval '1 hour', current_date, level from app";
    const at = (seconds: number) =>
      rig.sql(query, {
        nowMicros: seconds * secondMicros,
        startMicros: (seconds - 10) * secondMicros,
        endMicros: (seconds + 10) * secondMicros,
      });
    const [first, second] = [await at(86_400), await at(10 * 86_400)];
    expect(rig.translations.count).toBe(1);
    expect(first).toContain("fromUnixTimestamp64Micro(86400000000, 'UTC')");
    expect(first).toContain("toDate32('1970-01-02')");
    expect(first).toContain("fromUnixTimestamp64Micro(86390000000, 'UTC')");
    for (const text of ['864000000000', '863990000000', '864010000000', "toDate32('1970-01-11')"]) {
      expect(second).toContain(text);
      expect(first).not.toContain(text);
    }
    expect(await rig.sql(query, { nowMicros: 0 })).not.toContain('WHERE');
    expect(await rig.sql(query, { nowMicros: 0, startMicros: 5 })).toContain(
      '>= fromUnixTimestamp64Micro(5,',
    );
    expect(await rig.sql(query, { nowMicros: 0, endMicros: 6 })).toContain('< fromUnixTimestamp64Micro(6,');
  });

  test('rounds a moment up to what the column can hold, and to whole days', async () => {
    const rig = new Rig();
    const range = { startMicros: 1, endMicros: 86_400 * secondMicros };
    expect(await rig.sql('select value from m', range)).toContain(
      "timestamp >= fromUnixTimestamp64Micro(1000, 'UTC')",
    );
    const series = await rig.sql('select metric_name from m.series', range);
    expect(series).toContain("date >= '1970-01-01' AND date <= '1970-01-01'");
  });

  test('freezes no value of a parameter', async () => {
    const rig = new Rig();
    const query = 'select count(*) from app where level = $1 and p_timestamp > $2 and $3::int > 1';
    const first = await rig.sql(query, { parameters: ['a', '2024-01-01', '7'] });
    expect(first).toContain("'a'");
    expect(first).toContain("fromUnixTimestamp64Micro(1704067200000000, 'UTC')");
    expect(await rig.sql(query, { parameters: ["b'\\", '2024-01-02', null] })).toContain("'b\\'\\\\'");
    expect(rig.translations.count).toBe(1);
    await expect(rig.sql(query, { parameters: ['a', 'no time', '7'] })).rejects.toMatchObject({
      code: 'sql_bad_value',
    });
    await rig.describe(query);
    expect(rig.translations.count).toBe(1);
  });

  test('holds for the values alone on which it depends', async () => {
    const rig = new Rig();
    const query = 'select level from app where level = $1 limit $2';
    await rig.describe(query);
    const ofTen = await rig.sql(query, { parameters: ['a', '10'] });
    expect(ofTen).toContain('LIMIT 10');
    expect(rig.translations.count).toBe(2);
    expect(await rig.sql(query, { parameters: ['b', '10'] })).toBe(ofTen.replace("'a'", "'b'"));
    expect(rig.translations.count).toBe(2);
    expect(await rig.sql(query, { parameters: ['a', '20'] })).toContain('LIMIT 20');
    expect(await rig.sql(query, { parameters: ['a', '10'] })).toBe(ofTen);
    await rig.describe(query);
    expect(rig.translations.count).toBe(3);
  });

  test('belongs to the types that the client gives to parameters', async () => {
    const rig = new Rig();
    const typesOf = async (parameterTypes?: readonly number[]) =>
      (await rig.describe('select $1', parameterTypes)).parameters.map(({ type }) => type.name);
    expect(await typesOf()).toEqual(['text']);
    expect(await typesOf([0])).toEqual(['text']);
    expect(await typesOf([20])).toEqual(['int8']);
    expect(await typesOf([1016])).toEqual(['array']);
    expect(await typesOf([23, 25])).toEqual(['int4', 'text']);
    await expect(typesOf([600])).rejects.toMatchObject({ code: 'sql_unsupported' });
  });

  test('takes no name of a field for a placeholder', async () => {
    const rig = new Rig();
    rig.columns.set('\0$1\0:str', { name: '\0$1\0:str', type: 'Nullable(String)' });
    const sql = await rig.sql('select * from app where level = $1', { parameters: ['` FROM x --'] });
    expect(sql.split('` FROM x --')).toHaveLength(2);
    expect(sql).toContain('`\\0$1\\0:str`');
  });

  test('has bounds on values of parameters', async () => {
    const rig = new Rig();
    const refusal = async (sql: string, parameters: readonly (string | null)[]) =>
      await rig.sql(sql, { parameters }).then(
        () => 'none',
        (error: unknown) => (error as AppError).code,
      );
    const some = Array.from({ length: limits.maxQueryParameters }, (_, index) => String(index));
    expect(await refusal('select 1', [...some, '1'])).toBe('sql_too_large');
    expect(await refusal(`select ${some.map((_, index) => `$${index + 1}`).join()}`, some)).toBe('none');
    expect(await refusal('select $1', ['x'.repeat(limits.maxSqlLiteralLength + 1)])).toBe('sql_too_large');
    expect(await refusal('select $1::int', ['1'.repeat(1000)])).toBe('sql_too_large');
    const long = 'x'.repeat(limits.maxSqlLiteralLength);
    expect(await refusal('select $1, $2, $3', [long, long, 'x'])).toBe('sql_too_large');
    // The store's statement holds it wherever it stands.
    expect(await refusal('select $1, $1', [long.slice(1000)])).toBe('sql_too_large');
    expect(await refusal('select $1', [long])).toBe('none');
  });

  test('is made again when the catalog changes', async () => {
    const rig = new Rig();
    await expect(rig.sql('select ms from app')).rejects.toMatchObject({ code: 'sql_unknown_column' });
    const before = await rig.sql('select * from app');
    rig.columns.set('ms:num', { name: 'ms:num', type: 'Nullable(Float64)' });
    rig.versions.changed(defaultTenant);
    expect(await rig.sql('select ms from app')).toContain('ms:num');
    expect(await rig.sql('select * from app')).not.toBe(before);
    expect(await rig.sql('select * from app')).toContain('ms:num');
  });

  test('outlives changes of other tenants', async () => {
    const rig = new Rig();
    await rig.sql('select level from app');
    rig.versions.changed('acme');
    await rig.sql('select level from app');
    expect(rig.translations.count).toBe(1);
    rig.versions.changed(defaultTenant);
    await rig.sql('select level from app');
    expect(rig.translations.count).toBe(2);
  });

  test('belongs to a tenant', async () => {
    const rig = new Rig();
    expect(await rig.sql('select level from app')).toContain('`t_default`');
    expect(await rig.sql('select level from app', { tenant: 'acme' })).toContain('`t_acme`');
  });

  test('belongs to privileges: who has others gets nothing of it', async () => {
    const rig = new Rig();
    rig.readable = ({ privileges }) => {
      const [{ tag } = {}] = privileges;
      return privileges.length === 0 ? 'none' : tag === undefined ? 'all' : [tag];
    };
    const tagged: readonly Privilege[] = [{ privilege: 'reader', tag: { field: 'level', value: 'info' } }];
    const other: readonly Privilege[] = [{ privilege: 'reader', tag: { field: 'level', value: 'warn' } }];
    expect(await rig.sql('select level from app')).not.toContain('PREWHERE');
    expect(await rig.sql('select level from app', { privileges: tagged })).toContain(
      "PREWHERE `level:str` = 'info'",
    );
    expect(await rig.sql('select level from app', { privileges: other })).toContain(
      "PREWHERE `level:str` = 'warn'",
    );
    await expect(rig.sql('select level from app', { privileges: [] })).rejects.toMatchObject({
      code: 'forbidden',
    });
    // The same privileges, of somebody else.
    const { count } = rig.translations;
    await rig.sql('select level from app', { privileges: structuredClone(tagged) });
    expect(rig.translations.count).toBe(count);
  });

  test('is not remembered if the catalog changed while it was made', async () => {
    const rig = new Rig();
    const made = rig.sql('select * from app');
    rig.versions.changed(defaultTenant);
    await made;
    const { count } = rig.translations;
    await rig.sql('select * from app');
    expect(rig.translations.count).toBe(count + 1);
  });

  test('errors are not', async () => {
    const rig = new Rig();
    for (let round = 1; round <= 2; round += 1) {
      await expect(rig.sql('select nosuch from app')).rejects.toMatchObject({ code: 'sql_unknown_column' });
      expect(rig.translations.count).toBe(round);
    }
  });

  test('makes room: the oldest is forgotten', async () => {
    const rig = new Rig();
    await rig.sql('select level from app');
    const long = 'x'.repeat(100_000);
    const fitting = limits.maxTranslationCacheBytes / (4 * long.length);
    for (let index = 0; index < fitting; index += 1) await rig.sql(`select '${index}${long}' from app`);
    const { count } = rig.translations;
    await rig.sql('select level from app');
    expect(rig.translations.count).toBe(count + 1);
  });
});
