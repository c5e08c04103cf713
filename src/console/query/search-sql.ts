import { type DatasetFields, type Field, isBoolean, isNumeric, isText, isTime } from './dataset-fields.ts';
import { type Comparison, parseSearch, type Search, SearchError } from './search-language.ts';
import { identifier, likePattern, literal } from './sql-text.ts';

/** Without a message column, words are looked for in this many columns of text. */
const maxSearchedColumns = 20;

/**
 * A search as a condition of SQL; empty if it matches everything.
 * @param inAllText whether words are looked for in every column of text, not in the message alone
 * @throws SearchError
 */
export function searchCondition(text: string, dataset: DatasetFields, inAllText = false): string {
  const search = parseSearch(text);
  return search.kind === 'all' ? '' : print(search, dataset, inAllText);
}

function print(search: Search, dataset: DatasetFields, inAllText: boolean): string {
  switch (search.kind) {
    case 'all':
      return 'TRUE';
    case 'and':
    case 'or': {
      const parts = search.parts.map((part) => print(part, dataset, inAllText));
      return `(${parts.join(search.kind === 'and' ? ' AND ' : ' OR ')})`;
    }
    case 'not':
      // Without the row's value the condition is NULL, and NOT NULL would hide the row.
      return `(${print(search.part, dataset, inAllText)}) IS NOT TRUE`;
    case 'words':
      return words(search.text, dataset, inAllText);
    case 'field': {
      const field = dataset.fields.find(({ name }) => name === search.field);
      if (field === undefined) throw unknownField(search.field, dataset);
      return comparison(field, search.operator, search.value, search.isQuoted);
    }
  }
}

function words(text: string, { fields, message }: DatasetFields, inAllText: boolean): string {
  const texts = fields.filter(isText).map(({ name }) => name);
  const columns = message !== undefined && !inAllText ? [message] : texts.slice(0, maxSearchedColumns);
  if (columns.length === 0) throw new SearchError('no column holds text; name a field, as in status:500', 0);
  const pattern = likePattern(['', text, '']);
  const conditions = columns.map((name) => `${identifier(name)} ILIKE ${pattern}`);
  return conditions.length === 1 ? conditions.join('') : `(${conditions.join(' OR ')})`;
}

function comparison(field: Field, operator: Comparison, value: string, isQuoted: boolean): string {
  const column = identifier(field.name);
  if (value === '*' && !isQuoted && (operator === ':' || operator === '!=')) {
    return `${column} IS ${operator === ':' ? 'NOT ' : ''}NULL`;
  }
  const sign = operator === ':' ? '=' : operator === '!=' ? '<>' : operator;
  if (isNumeric(field)) return `${column} ${sign} ${number(field, value)}`;
  if (isBoolean(field)) return `${column} ${sign} ${boolean(field, value)}`;
  if (isTime(field)) return `${column} ${sign} ${time(field, value)}`;
  const text = isText(field) ? column : `CAST(${column} AS text)`;
  if (!isQuoted && value.includes('*') && (sign === '=' || sign === '<>')) {
    return `${text} ${sign === '=' ? '' : 'NOT '}ILIKE ${likePattern(value.split('*'))}`;
  }
  return `${text} ${sign} ${literal(value)}`;
}

const numberText = /^[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,3})?$/;

function number({ name }: Field, value: string): string {
  if (numberText.test(value)) return value.startsWith('-') ? `(${value})` : value;
  throw new SearchError(`${name} holds numbers, and ${JSON.stringify(value)} is none`, 0);
}

function boolean({ name }: Field, value: string): string {
  const text = value.toLowerCase();
  if (text === 'true' || text === 'false') return text.toUpperCase();
  throw new SearchError(`${name} is true or false`, 0);
}

const timeText = /^\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

function time({ name }: Field, value: string): string {
  if (timeText.test(value)) return literal(value);
  throw new SearchError(`${name} holds times: write 2026-01-31 or "2026-01-31 12:00:00"`, 0);
}

function unknownField(name: string, { fields }: DatasetFields): SearchError {
  const lower = name.toLowerCase();
  const similar = fields.find((field) => field.name.toLowerCase() === lower);
  const near = similar ?? fields.find((field) => field.name.toLowerCase().includes(lower));
  const advice = near === undefined ? '' : `; is it ${near.name}?`;
  return new SearchError(`there is no field ${JSON.stringify(name)}${advice}`, 0);
}
