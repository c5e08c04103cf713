/** `Export…ServiceRequest` from JSON: for all signals, resources with scopes with records. */
import { isUtf8 } from 'node:buffer';
import { AppError } from '../../../errors.ts';
import { JsonReader } from '../../wire/json-reader.ts';
import type { ExportDraft } from '../record-rows.ts';
import type { EntityRef } from '../resource-columns.ts';
import { JsonFields, readArray } from './json-fields.ts';
import { readPlainString, readText, readUnsigned32 } from './json-scalars.ts';
import { JsonValues } from './json-values.ts';

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * A cursor at the beginning of a JSON document.
 * @throws AppError `bad_json`
 */
export function openJson(body: Buffer): JsonReader {
  if (!isUtf8(body)) throw new AppError('bad_json', 'The body is not valid UTF-8');
  const hasMark = body.subarray(0, byteOrderMark.length).equals(byteOrderMark);
  return new JsonReader(body, hasMark ? byteOrderMark.length : 0);
}

/** What the lists of a signal are called. */
export interface ExportNames {
  readonly resources: string;
  readonly scopes: string;
  readonly records: string;
}

const resourceField = { attributes: 1, droppedAttributesCount: 2, entityRefs: 3 } as const;
const scopeField = { name: 1, version: 2, attributes: 3, droppedAttributesCount: 4 } as const;
const entityField = { schemaUrl: 1, type: 2, idKeys: 3, descriptionKeys: 4 } as const;
const wrapper = { context: 1, items: 2, schemaUrl: 3 } as const;

const resourceFields = new JsonFields(resourceField);
const scopeFields = new JsonFields(scopeField);
const entityFields = new JsonFields(entityField);

/** The fields of a signal's wrappers. One for each signal: fields remember what came last. */
export class ExportFields {
  readonly request: JsonFields;
  readonly resource: JsonFields;
  readonly scope: JsonFields;

  constructor(names: ExportNames) {
    const { context, items, schemaUrl } = wrapper;
    this.request = new JsonFields({ [names.resources]: items });
    this.resource = new JsonFields({ resource: context, [names.scopes]: items, schemaUrl });
    this.scope = new JsonFields({ scope: context, [names.records]: items, schemaUrl });
  }
}

export class JsonExport {
  readonly #reader: JsonReader;
  readonly #draft: ExportDraft;
  readonly #readRecord: () => void;
  readonly #resourceValues: JsonValues;
  readonly #scopeValues: JsonValues;
  readonly #fields: ExportFields;

  /** @param readRecord reads a record, an object or null */
  constructor(reader: JsonReader, draft: ExportDraft, fields: ExportFields, readRecord: () => void) {
    this.#reader = reader;
    this.#draft = draft;
    this.#readRecord = readRecord;
    this.#resourceValues = new JsonValues(reader, draft.resource);
    this.#scopeValues = new JsonValues(reader, draft.scope);
    this.#fields = fields;
  }

  /** Reads the whole request. @throws AppError `bad_json`, and what the draft throws */
  read(): void {
    const reader = this.#reader;
    this.#fields.request.read(reader, () => readArray(reader, this.#readResourceItems));
    if (reader.peek() !== -1) throw reader.syntaxError('expected nothing after the request');
  }

  readonly #readResourceItems = (): void => {
    this.#draft.beginResource();
    this.#fields.resource.read(this.#reader, (id) => {
      const { resource } = this.#draft;
      if (id === wrapper.items) readArray(this.#reader, this.#readScopeItems);
      else if (id === wrapper.schemaUrl) readText(this.#reader, resource, resource.schemaUrl);
      else this.#readResource();
    });
    this.#draft.endResource();
  };

  readonly #readScopeItems = (): void => {
    this.#draft.beginScope();
    this.#fields.scope.read(this.#reader, (id) => {
      const { scope } = this.#draft;
      if (id === wrapper.items) readArray(this.#reader, this.#readRecord);
      else if (id === wrapper.schemaUrl) readText(this.#reader, scope, scope.schemaUrl);
      else this.#readScope();
    });
    this.#draft.endScope();
  };

  #readResource(): void {
    const reader = this.#reader;
    const { resource } = this.#draft;
    resourceFields.read(reader, (id) => {
      if (id === resourceField.attributes) this.#resourceValues.readAttributes(resource.attributes);
      else if (id === resourceField.entityRefs) readArray(reader, this.#readEntityRef);
      else resource.droppedAttributes = readUnsigned32(reader);
    });
  }

  #readScope(): void {
    const reader = this.#reader;
    const { scope } = this.#draft;
    scopeFields.read(reader, (id) => {
      if (id === scopeField.name) readText(reader, scope, scope.name);
      else if (id === scopeField.version) readText(reader, scope, scope.version);
      else if (id === scopeField.attributes) this.#scopeValues.readAttributes(scope.attributes);
      else scope.droppedAttributes = readUnsigned32(reader);
    });
  }

  readonly #readEntityRef = (): void => {
    const reader = this.#reader;
    const { resource } = this.#draft;
    const ref: EntityRef = resource.addEntityRef();
    const readKeys = (keys: string[]): void =>
      readArray(reader, () => resource.addEntityKey(keys, readPlainString(reader)));
    entityFields.read(reader, (id) => {
      if (id === entityField.schemaUrl) ref.schemaUrl = readPlainString(reader);
      else if (id === entityField.type) ref.type = readPlainString(reader);
      else readKeys(id === entityField.idKeys ? ref.idKeys : ref.descriptionKeys);
    });
  };
}
