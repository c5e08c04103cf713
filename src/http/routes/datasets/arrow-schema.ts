import * as v from 'valibot';

const emptyObject = v.strictObject({});
/** The columns of a dataset, as Apache Arrow writes a schema. */
export const arrowSchema = v.pipe(
  v.object({
    fields: v.array(
      v.object({
        name: v.string(),
        data_type: v.union([
          v.string(),
          v.object({ Timestamp: v.pipe(v.array(v.string()), v.description('Unit and time zone.')) }),
        ]),
        nullable: v.boolean(),
        dict_id: v.literal(0),
        dict_is_ordered: v.literal(false),
        metadata: emptyObject,
      }),
    ),
    metadata: emptyObject,
  }),
  v.title('ArrowSchema'),
);
