/**
 * `Export…ServiceRequest` from protobuf: for all signals, resources (field 1 of the request) with scopes (2)
 * with records (2); a resource or scope is field 1 of its wrapper, and its schema URL field 3.
 */
import { fieldTag, type ProtobufReader } from '../wire/protobuf-reader.ts';
import { ProtobufValues } from './any-value.ts';
import type { ExportDraft } from './record-rows.ts';
import type { EntityRef } from './resource-columns.ts';

const first = fieldTag(1, 'bytes');
const second = fieldTag(2, 'bytes');
const third = fieldTag(3, 'bytes');
const fourth = fieldTag(4, 'bytes');
const resourceDropped = fieldTag(2, 'varint');
const scopeDropped = fieldTag(4, 'varint');

export class ProtobufExport {
  readonly #reader: ProtobufReader;
  readonly #draft: ExportDraft;
  readonly #readRecord: (end: number) => void;
  readonly #resourceValues: ProtobufValues;
  readonly #scopeValues: ProtobufValues;

  /**
   * @param readRecord reads the message of a record, which ends at `end`; the cursor need not be there
   *   afterwards
   */
  constructor(reader: ProtobufReader, draft: ExportDraft, readRecord: (end: number) => void) {
    this.#reader = reader;
    this.#draft = draft;
    this.#readRecord = readRecord;
    this.#resourceValues = new ProtobufValues(reader, draft.resource);
    this.#scopeValues = new ProtobufValues(reader, draft.scope);
  }

  /** Reads the whole request. @throws AppError `bad_protobuf`, and what the draft throws */
  read(): void {
    const reader = this.#reader;
    const end = reader.bytes.length;
    let itemsEnd = reader.nextField(first, end);
    while (itemsEnd >= 0) {
      this.#readResourceItems(itemsEnd);
      itemsEnd = reader.nextField(first, end);
    }
  }

  #readResourceItems(end: number): void {
    const reader = this.#reader;
    this.#draft.beginResource();
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === first) this.#readResource(reader.lengthEnd(end));
      else if (tag === second) this.#readScopeItems(reader.lengthEnd(end));
      else if (tag === third) this.#resourceValues.readString(this.#draft.resource.schemaUrl, end);
      else reader.skip(tag, end);
    }
    this.#draft.endResource();
  }

  #readScopeItems(end: number): void {
    const reader = this.#reader;
    this.#draft.beginScope();
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === second) {
        const recordEnd = reader.lengthEnd(end);
        this.#readRecord(recordEnd);
        reader.position = recordEnd;
      } else if (tag === first) this.#readScope(reader.lengthEnd(end));
      else if (tag === third) this.#scopeValues.readString(this.#draft.scope.schemaUrl, end);
      else reader.skip(tag, end);
    }
    this.#draft.endScope();
  }

  #readResource(end: number): void {
    const reader = this.#reader;
    const { resource } = this.#draft;
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === first) this.#resourceValues.readAttribute(resource.attributes, end);
      else if (tag === resourceDropped) resource.droppedAttributes = reader.int32(end);
      else if (tag === third) this.#readEntityRef(reader.lengthEnd(end));
      else reader.skip(tag, end);
    }
  }

  #readScope(end: number): void {
    const reader = this.#reader;
    const { scope } = this.#draft;
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === first) this.#scopeValues.readString(scope.name, end);
      else if (tag === second) this.#scopeValues.readString(scope.version, end);
      else if (tag === third) this.#scopeValues.readAttribute(scope.attributes, end);
      else if (tag === scopeDropped) scope.droppedAttributes = reader.int32(end);
      else reader.skip(tag, end);
    }
  }

  #readEntityRef(end: number): void {
    const reader = this.#reader;
    const { resource } = this.#draft;
    const ref: EntityRef = resource.addEntityRef();
    while (reader.position < end) {
      const tag = reader.tag(end);
      if (tag === first) ref.schemaUrl = this.#readPlainString(end);
      else if (tag === second) ref.type = this.#readPlainString(end);
      else if (tag === third) resource.addEntityKey(ref.idKeys, this.#readPlainString(end));
      else if (tag === fourth) resource.addEntityKey(ref.descriptionKeys, this.#readPlainString(end));
      else reader.skip(tag, end);
    }
  }

  #readPlainString(end: number): string {
    const reader = this.#reader;
    const fieldEnd = reader.lengthEnd(end);
    const text = reader.bytes.toString('utf8', reader.position, fieldEnd);
    reader.position = fieldEnd;
    return text;
  }
}
