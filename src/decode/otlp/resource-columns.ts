/** What a resource and a scope say, and the columns that hold it with each of their records. */
import { UIntColumn } from '../../columnar/columns.ts';
import { LowCardinalityColumn, MapColumn } from '../../columnar/dictionary-columns.ts';
import type { BlockColumn } from '../../columnar/native-block.ts';
import { limits } from '../../limits/limits.ts';
import type { DecodeBounds } from '../decode-bounds.ts';
import type { MemoryBudget } from '../memory-budget.ts';
import { AttributeList } from './attribute-list.ts';
import { Draft, DraftText } from './draft.ts';

const serviceName = Buffer.from('service.name');
const noBytes = Buffer.alloc(0);
/** What the columns of a resource and its scope take in a row beside texts and attributes. */
const fixedBytes = 40;

/** An `EntityRef` message, with the names that it has in JSON. */
export interface EntityRef {
  schemaUrl: string;
  type: string;
  idKeys: string[];
  descriptionKeys: string[];
}

/** A resource with the schema URL of its wrapper. */
export class ResourceDraft extends Draft {
  readonly attributes: AttributeList;
  readonly schemaUrl = new DraftText();
  readonly entityRefs: EntityRef[] = [];
  droppedAttributes = 0;
  #entityKeys = 0;

  constructor(body: Buffer, attributes: MapColumn, bounds: DecodeBounds) {
    super(body);
    this.attributes = new AttributeList(this, attributes, bounds);
  }

  override begin(): void {
    super.begin();
    this.schemaUrl.clear();
    this.attributes.begin();
    this.droppedAttributes = 0;
    this.entityRefs.length = 0;
    this.#entityKeys = 0;
  }

  /** @returns a new reference; one that is not kept if there are too many */
  addEntityRef(): EntityRef {
    const ref = { schemaUrl: '', type: '', idKeys: [], descriptionKeys: [] };
    if (this.entityRefs.length < limits.maxEntityRefsPerResource) this.entityRefs.push(ref);
    else this.refuse(`its resource has more than ${limits.maxEntityRefsPerResource} entity references`);
    return ref;
  }

  addEntityKey(keys: string[], key: string): void {
    this.#entityKeys++;
    if (this.#entityKeys <= limits.maxEntityKeysPerResource) keys.push(key);
    else
      this.refuse(`its resource has more than ${limits.maxEntityKeysPerResource} keys in entity references`);
  }
}

/** A scope with the schema URL of its wrapper. */
export class ScopeDraft extends Draft {
  readonly name = new DraftText();
  readonly version = new DraftText();
  readonly attributes: AttributeList;
  readonly schemaUrl = new DraftText();
  droppedAttributes = 0;

  constructor(body: Buffer, attributes: MapColumn, bounds: DecodeBounds) {
    super(body);
    this.attributes = new AttributeList(this, attributes, bounds);
  }

  override begin(): void {
    super.begin();
    this.schemaUrl.clear();
    this.name.clear();
    this.version.clear();
    this.attributes.begin();
    this.droppedAttributes = 0;
  }
}

/** The same value in each row of a resource or a scope. */
export class ResourceColumns {
  readonly resource: ResourceDraft;
  readonly scope: ScopeDraft;
  readonly #budget: MemoryBudget;
  readonly #serviceName = new LowCardinalityColumn('service_name');
  readonly #resourceAttributes: MapColumn;
  readonly #resourceDropped: UIntColumn;
  readonly #resourceSchemaUrl = new LowCardinalityColumn('resource_schema_url');
  readonly #entityRefs = new LowCardinalityColumn('resource_entity_refs');
  readonly #scopeName = new LowCardinalityColumn('scope_name');
  readonly #scopeVersion = new LowCardinalityColumn('scope_version');
  readonly #scopeAttributes: MapColumn;
  readonly #scopeDropped: UIntColumn;
  readonly #scopeSchemaUrl = new LowCardinalityColumn('scope_schema_url');

  constructor(body: Buffer, expectedRows: number, budget: MemoryBudget, bounds: DecodeBounds) {
    this.#budget = budget;
    this.#resourceAttributes = new MapColumn('resource_attributes', expectedRows);
    this.#resourceDropped = new UIntColumn('resource_dropped_attributes_count', 'UInt32', 32, expectedRows);
    this.#scopeAttributes = new MapColumn('scope_attributes', expectedRows);
    this.#scopeDropped = new UIntColumn('scope_dropped_attributes_count', 'UInt32', 32, expectedRows);
    this.resource = new ResourceDraft(body, this.#resourceAttributes, bounds);
    this.scope = new ScopeDraft(body, this.#scopeAttributes, bounds);
  }

  /** Writes what the resource says into its rows. */
  appendResource(rows: number): void {
    const { resource } = this;
    const { attributes, entityRefs } = resource;
    this.#repeatRow(this.#resourceAttributes, attributes, rows);
    this.#resourceDropped.appendRepeated(resource.droppedAttributes, rows);
    append(this.#resourceSchemaUrl, resource, resource.schemaUrl, rows);
    const service = attributes.valueOf(serviceName);
    if (service === undefined) this.#serviceName.append(noBytes, 0, 0, rows);
    else append(this.#serviceName, resource, service, rows);
    const refs = entityRefs.length === 0 ? noBytes : Buffer.from(JSON.stringify(entityRefs));
    this.#entityRefs.append(refs, 0, refs.length, rows);
  }

  /** Writes what the scope says into its rows. */
  appendScope(rows: number): void {
    const { scope } = this;
    this.#repeatRow(this.#scopeAttributes, scope.attributes, rows);
    this.#scopeDropped.appendRepeated(scope.droppedAttributes, rows);
    append(this.#scopeName, scope, scope.name, rows);
    append(this.#scopeVersion, scope, scope.version, rows);
    append(this.#scopeSchemaUrl, scope, scope.schemaUrl, rows);
  }

  #repeatRow(column: MapColumn, attributes: AttributeList, rows: number): void {
    attributes.appendRow();
    this.#budget.spend((column.rowBytes + fixedBytes) * rows, 'attributes that all its records share');
    column.repeatRow(rows - 1);
  }

  get columns(): readonly BlockColumn[] {
    return [
      this.#serviceName,
      this.#resourceAttributes,
      this.#resourceDropped,
      this.#resourceSchemaUrl,
      this.#entityRefs,
      this.#scopeName,
      this.#scopeVersion,
      this.#scopeAttributes,
      this.#scopeDropped,
      this.#scopeSchemaUrl,
    ];
  }
}

const append = (column: LowCardinalityColumn, draft: Draft, text: DraftText, rows: number): void =>
  column.append(draft.bytesOf(text), text.start, text.end, rows);
