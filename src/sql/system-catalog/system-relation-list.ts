/**
 * The relations of `pg_catalog` and `information_schema` of PostgreSQL 15, as its own catalog lists them:
 * schema and name, object id, kind (`r` a table, `v` a view), and behind the bar the columns by type. The
 * domains of `information_schema` are written as the types below them.
 */
export const systemRelationList = `
information_schema._pg_foreign_data_wrappers 13507 v | oid: oid fdwowner; _text: fdwoptions; name:
  foreign_data_wrapper_catalog foreign_data_wrapper_name authorization_identifier; text:
  foreign_data_wrapper_language
information_schema._pg_foreign_servers 13519 v | oid: oid; _text: srvoptions; name: foreign_server_catalog
  foreign_server_name foreign_data_wrapper_catalog foreign_data_wrapper_name; text: foreign_server_type
  foreign_server_version; name: authorization_identifier
information_schema._pg_foreign_table_columns 13498 v | name: nspname relname attname; _text: attfdwoptions
information_schema._pg_foreign_tables 13532 v | name: foreign_table_catalog foreign_table_schema
  foreign_table_name; _text: ftoptions; name: foreign_server_catalog foreign_server_name
  authorization_identifier
information_schema._pg_user_mappings 13545 v | oid: oid; _text: umoptions; oid: umuser; name:
  authorization_identifier foreign_server_catalog foreign_server_name srvowner
information_schema.administrable_role_authorizations 13241 v | name: grantee role_name; text: is_grantable
information_schema.applicable_roles 13236 v | name: grantee role_name; text: is_grantable
information_schema.attributes 13245 v | name: udt_catalog udt_schema udt_name attribute_name; int4:
  ordinal_position; text: attribute_default is_nullable data_type; int4: character_maximum_length
  character_octet_length; name: character_set_catalog character_set_schema character_set_name
  collation_catalog collation_schema collation_name; int4: numeric_precision numeric_precision_radix
  numeric_scale datetime_precision; text: interval_type; int4: interval_precision; name:
  attribute_udt_catalog attribute_udt_schema attribute_udt_name scope_catalog scope_schema scope_name;
  int4: maximum_cardinality; name: dtd_identifier; text: is_derived_reference_attribute
information_schema.character_sets 13250 v | name: character_set_catalog character_set_schema
  character_set_name character_repertoire form_of_use default_collate_catalog default_collate_schema
  default_collate_name
information_schema.check_constraint_routine_usage 13255 v | name: constraint_catalog constraint_schema
  constraint_name specific_catalog specific_schema specific_name
information_schema.check_constraints 13260 v | name: constraint_catalog constraint_schema constraint_name;
  text: check_clause
information_schema.collation_character_set_applicability 13270 v | name: collation_catalog
  collation_schema collation_name character_set_catalog character_set_schema character_set_name
information_schema.collations 13265 v | name: collation_catalog collation_schema collation_name; text:
  pad_attribute
information_schema.column_column_usage 13275 v | name: table_catalog table_schema table_name column_name
  dependent_column
information_schema.column_domain_usage 13280 v | name: domain_catalog domain_schema domain_name
  table_catalog table_schema table_name column_name
information_schema.column_options 13503 v | name: table_catalog table_schema table_name column_name
  option_name; text: option_value
information_schema.column_privileges 13285 v | name: grantor grantee table_catalog table_schema table_name
  column_name; text: privilege_type is_grantable
information_schema.column_udt_usage 13290 v | name: udt_catalog udt_schema udt_name table_catalog
  table_schema table_name column_name
information_schema.columns 13295 v | name: table_catalog table_schema table_name column_name; int4:
  ordinal_position; text: column_default is_nullable data_type; int4: character_maximum_length
  character_octet_length numeric_precision numeric_precision_radix numeric_scale datetime_precision; text:
  interval_type; int4: interval_precision; name: character_set_catalog character_set_schema
  character_set_name collation_catalog collation_schema collation_name domain_catalog domain_schema
  domain_name udt_catalog udt_schema udt_name scope_catalog scope_schema scope_name; int4:
  maximum_cardinality; name: dtd_identifier; text: is_self_referencing is_identity identity_generation
  identity_start identity_increment identity_maximum identity_minimum identity_cycle is_generated
  generation_expression is_updatable
information_schema.constraint_column_usage 13300 v | name: table_catalog table_schema table_name
  column_name constraint_catalog constraint_schema constraint_name
information_schema.constraint_table_usage 13305 v | name: table_catalog table_schema table_name
  constraint_catalog constraint_schema constraint_name
information_schema.data_type_privileges 13488 v | name: object_catalog object_schema object_name; text:
  object_type; name: dtd_identifier
information_schema.domain_constraints 13310 v | name: constraint_catalog constraint_schema constraint_name
  domain_catalog domain_schema domain_name; text: is_deferrable initially_deferred
information_schema.domain_udt_usage 13315 v | name: udt_catalog udt_schema udt_name domain_catalog
  domain_schema domain_name
information_schema.domains 13320 v | name: domain_catalog domain_schema domain_name; text: data_type;
  int4: character_maximum_length character_octet_length; name: character_set_catalog character_set_schema
  character_set_name collation_catalog collation_schema collation_name; int4: numeric_precision
  numeric_precision_radix numeric_scale datetime_precision; text: interval_type; int4: interval_precision;
  text: domain_default; name: udt_catalog udt_schema udt_name scope_catalog scope_schema scope_name; int4:
  maximum_cardinality; name: dtd_identifier
information_schema.element_types 13493 v | name: object_catalog object_schema object_name; text:
  object_type; name: collection_type_identifier; text: data_type; int4: character_maximum_length
  character_octet_length; name: character_set_catalog character_set_schema character_set_name
  collation_catalog collation_schema collation_name; int4: numeric_precision numeric_precision_radix
  numeric_scale datetime_precision; text: interval_type; int4: interval_precision; text: domain_default;
  name: udt_catalog udt_schema udt_name scope_catalog scope_schema scope_name; int4: maximum_cardinality;
  name: dtd_identifier
information_schema.enabled_roles 13325 v | name: role_name
information_schema.foreign_data_wrapper_options 13511 v | name: foreign_data_wrapper_catalog
  foreign_data_wrapper_name option_name; text: option_value
information_schema.foreign_data_wrappers 13515 v | name: foreign_data_wrapper_catalog
  foreign_data_wrapper_name authorization_identifier; text: library_name foreign_data_wrapper_language
information_schema.foreign_server_options 13524 v | name: foreign_server_catalog foreign_server_name
  option_name; text: option_value
information_schema.foreign_servers 13528 v | name: foreign_server_catalog foreign_server_name
  foreign_data_wrapper_catalog foreign_data_wrapper_name; text: foreign_server_type
  foreign_server_version; name: authorization_identifier
information_schema.foreign_table_options 13537 v | name: foreign_table_catalog foreign_table_schema
  foreign_table_name option_name; text: option_value
information_schema.foreign_tables 13541 v | name: foreign_table_catalog foreign_table_schema
  foreign_table_name foreign_server_catalog foreign_server_name
information_schema.information_schema_catalog_name 13227 v | name: catalog_name
information_schema.key_column_usage 13329 v | name: constraint_catalog constraint_schema constraint_name
  table_catalog table_schema table_name column_name; int4: ordinal_position position_in_unique_constraint
information_schema.parameters 13334 v | name: specific_catalog specific_schema specific_name; int4:
  ordinal_position; text: parameter_mode is_result as_locator; name: parameter_name; text: data_type;
  int4: character_maximum_length character_octet_length; name: character_set_catalog character_set_schema
  character_set_name collation_catalog collation_schema collation_name; int4: numeric_precision
  numeric_precision_radix numeric_scale datetime_precision; text: interval_type; int4: interval_precision;
  name: udt_catalog udt_schema udt_name scope_catalog scope_schema scope_name; int4: maximum_cardinality;
  name: dtd_identifier; text: parameter_default
information_schema.referential_constraints 13339 v | name: constraint_catalog constraint_schema
  constraint_name unique_constraint_catalog unique_constraint_schema unique_constraint_name; text:
  match_option update_rule delete_rule
information_schema.role_column_grants 13344 v | name: grantor grantee table_catalog table_schema
  table_name column_name; text: privilege_type is_grantable
information_schema.role_routine_grants 13358 v | name: grantor grantee specific_catalog specific_schema
  specific_name routine_catalog routine_schema routine_name; text: privilege_type is_grantable
information_schema.role_table_grants 13421 v | name: grantor grantee table_catalog table_schema
  table_name; text: privilege_type is_grantable with_hierarchy
information_schema.role_udt_grants 13450 v | name: grantor grantee udt_catalog udt_schema udt_name; text:
  privilege_type is_grantable
information_schema.role_usage_grants 13459 v | name: grantor grantee object_catalog object_schema
  object_name; text: object_type privilege_type is_grantable
information_schema.routine_column_usage 13348 v | name: specific_catalog specific_schema specific_name
  routine_catalog routine_schema routine_name table_catalog table_schema table_name column_name
information_schema.routine_privileges 13353 v | name: grantor grantee specific_catalog specific_schema
  specific_name routine_catalog routine_schema routine_name; text: privilege_type is_grantable
information_schema.routine_routine_usage 13362 v | name: specific_catalog specific_schema specific_name
  routine_catalog routine_schema routine_name
information_schema.routine_sequence_usage 13367 v | name: specific_catalog specific_schema specific_name
  routine_catalog routine_schema routine_name sequence_catalog sequence_schema sequence_name
information_schema.routine_table_usage 13372 v | name: specific_catalog specific_schema specific_name
  routine_catalog routine_schema routine_name table_catalog table_schema table_name
information_schema.routines 13377 v | name: specific_catalog specific_schema specific_name routine_catalog
  routine_schema routine_name; text: routine_type; name: module_catalog module_schema module_name
  udt_catalog udt_schema udt_name; text: data_type; int4: character_maximum_length character_octet_length;
  name: character_set_catalog character_set_schema character_set_name collation_catalog collation_schema
  collation_name; int4: numeric_precision numeric_precision_radix numeric_scale datetime_precision; text:
  interval_type; int4: interval_precision; name: type_udt_catalog type_udt_schema type_udt_name
  scope_catalog scope_schema scope_name; int4: maximum_cardinality; name: dtd_identifier; text:
  routine_body routine_definition external_name external_language parameter_style is_deterministic
  sql_data_access is_null_call sql_path schema_level_routine; int4: max_dynamic_result_sets; text:
  is_user_defined_cast is_implicitly_invocable security_type; name: to_sql_specific_catalog
  to_sql_specific_schema to_sql_specific_name; text: as_locator; timestamptz: created last_altered; text:
  new_savepoint_level is_udt_dependent result_cast_from_data_type result_cast_as_locator; int4:
  result_cast_char_max_length result_cast_char_octet_length; name: result_cast_char_set_catalog
  result_cast_char_set_schema result_cast_char_set_name result_cast_collation_catalog
  result_cast_collation_schema result_cast_collation_name; int4: result_cast_numeric_precision
  result_cast_numeric_precision_radix result_cast_numeric_scale result_cast_datetime_precision; text:
  result_cast_interval_type; int4: result_cast_interval_precision; name: result_cast_type_udt_catalog
  result_cast_type_udt_schema result_cast_type_udt_name result_cast_scope_catalog result_cast_scope_schema
  result_cast_scope_name; int4: result_cast_maximum_cardinality; name: result_cast_dtd_identifier
information_schema.schemata 13382 v | name: catalog_name schema_name schema_owner
  default_character_set_catalog default_character_set_schema default_character_set_name; text: sql_path
information_schema.sequences 13386 v | name: sequence_catalog sequence_schema sequence_name; text:
  data_type; int4: numeric_precision numeric_precision_radix numeric_scale; text: start_value
  minimum_value maximum_value increment cycle_option
information_schema.sql_features 13391 r | text: feature_id feature_name sub_feature_id sub_feature_name
  is_supported is_verified_by comments
information_schema.sql_implementation_info 13396 r | text: implementation_info_id
  implementation_info_name; int4: integer_value; text: character_value comments
information_schema.sql_parts 13401 r | text: feature_id feature_name is_supported is_verified_by comments
information_schema.sql_sizing 13406 r | int4: sizing_id; text: sizing_name; int4: supported_value; text:
  comments
information_schema.table_constraints 13411 v | name: constraint_catalog constraint_schema constraint_name
  table_catalog table_schema table_name; text: constraint_type is_deferrable initially_deferred enforced
  nulls_distinct
information_schema.table_privileges 13416 v | name: grantor grantee table_catalog table_schema table_name;
  text: privilege_type is_grantable with_hierarchy
information_schema.tables 13425 v | name: table_catalog table_schema table_name; text: table_type; name:
  self_referencing_column_name; text: reference_generation; name: user_defined_type_catalog
  user_defined_type_schema user_defined_type_name; text: is_insertable_into is_typed commit_action
information_schema.transforms 13430 v | name: udt_catalog udt_schema udt_name specific_catalog
  specific_schema specific_name group_name; text: transform_type
information_schema.triggered_update_columns 13435 v | name: trigger_catalog trigger_schema trigger_name
  event_object_catalog event_object_schema event_object_table event_object_column
information_schema.triggers 13440 v | name: trigger_catalog trigger_schema trigger_name; text:
  event_manipulation; name: event_object_catalog event_object_schema event_object_table; int4:
  action_order; text: action_condition action_statement action_orientation action_timing; name:
  action_reference_old_table action_reference_new_table action_reference_old_row action_reference_new_row;
  timestamptz: created
information_schema.udt_privileges 13445 v | name: grantor grantee udt_catalog udt_schema udt_name; text:
  privilege_type is_grantable
information_schema.usage_privileges 13454 v | name: grantor grantee object_catalog object_schema
  object_name; text: object_type privilege_type is_grantable
information_schema.user_defined_types 13463 v | name: user_defined_type_catalog user_defined_type_schema
  user_defined_type_name; text: user_defined_type_category is_instantiable is_final ordering_form
  ordering_category; name: ordering_routine_catalog ordering_routine_schema ordering_routine_name; text:
  reference_type data_type; int4: character_maximum_length character_octet_length; name:
  character_set_catalog character_set_schema character_set_name collation_catalog collation_schema
  collation_name; int4: numeric_precision numeric_precision_radix numeric_scale datetime_precision; text:
  interval_type; int4: interval_precision; name: source_dtd_identifier ref_dtd_identifier
information_schema.user_mapping_options 13550 v | name: authorization_identifier foreign_server_catalog
  foreign_server_name option_name; text: option_value
information_schema.user_mappings 13555 v | name: authorization_identifier foreign_server_catalog
  foreign_server_name
information_schema.view_column_usage 13468 v | name: view_catalog view_schema view_name table_catalog
  table_schema table_name column_name
information_schema.view_routine_usage 13473 v | name: table_catalog table_schema table_name
  specific_catalog specific_schema specific_name
information_schema.view_table_usage 13478 v | name: view_catalog view_schema view_name table_catalog
  table_schema table_name
information_schema.views 13483 v | name: table_catalog table_schema table_name; text: view_definition
  check_option is_updatable is_insertable_into is_trigger_updatable is_trigger_deletable
  is_trigger_insertable_into
pg_catalog.pg_aggregate 2600 r | regproc: aggfnoid; char: aggkind; int2: aggnumdirectargs; regproc:
  aggtransfn aggfinalfn aggcombinefn aggserialfn aggdeserialfn aggmtransfn aggminvtransfn aggmfinalfn;
  bool: aggfinalextra aggmfinalextra; char: aggfinalmodify aggmfinalmodify; oid: aggsortop aggtranstype;
  int4: aggtransspace; oid: aggmtranstype; int4: aggmtransspace; text: agginitval aggminitval
pg_catalog.pg_am 2601 r | oid: oid; name: amname; regproc: amhandler; char: amtype
pg_catalog.pg_amop 2602 r | oid: oid amopfamily amoplefttype amoprighttype; int2: amopstrategy; char:
  amoppurpose; oid: amopopr amopmethod amopsortfamily
pg_catalog.pg_amproc 2603 r | oid: oid amprocfamily amproclefttype amprocrighttype; int2: amprocnum;
  regproc: amproc
pg_catalog.pg_attrdef 2604 r | oid: oid adrelid; int2: adnum; pg_node_tree: adbin
pg_catalog.pg_attribute 1249 r | oid: attrelid; name: attname; oid: atttypid; int4: attstattarget; int2:
  attlen attnum; int4: attndims attcacheoff atttypmod; bool: attbyval; char: attalign attstorage
  attcompression; bool: attnotnull atthasdef atthasmissing; char: attidentity attgenerated; bool:
  attisdropped attislocal; int4: attinhcount; oid: attcollation; _aclitem: attacl; _text: attoptions
  attfdwoptions; anyarray: attmissingval
pg_catalog.pg_auth_members 1261 r | oid: roleid member grantor; bool: admin_option
pg_catalog.pg_authid 1260 r | oid: oid; name: rolname; bool: rolsuper rolinherit rolcreaterole rolcreatedb
  rolcanlogin rolreplication rolbypassrls; int4: rolconnlimit; text: rolpassword; timestamptz:
  rolvaliduntil
pg_catalog.pg_available_extension_versions 12085 v | name: name; text: version; bool: installed superuser
  trusted relocatable; name: schema; _name: requires; text: comment
pg_catalog.pg_available_extensions 12081 v | name: name; text: default_version installed_version comment
pg_catalog.pg_backend_memory_contexts 12138 v | text: name ident parent; int4: level; int8: total_bytes
  total_nblocks free_bytes free_chunks used_bytes
pg_catalog.pg_cast 2605 r | oid: oid castsource casttarget castfunc; char: castcontext castmethod
pg_catalog.pg_class 1259 r | oid: oid; name: relname; oid: relnamespace reltype reloftype relowner relam
  relfilenode reltablespace; int4: relpages; float4: reltuples; int4: relallvisible; oid: reltoastrelid;
  bool: relhasindex relisshared; char: relpersistence relkind; int2: relnatts relchecks; bool: relhasrules
  relhastriggers relhassubclass relrowsecurity relforcerowsecurity relispopulated; char: relreplident;
  bool: relispartition; oid: relrewrite; xid: relfrozenxid relminmxid; _aclitem: relacl; _text:
  reloptions; pg_node_tree: relpartbound
pg_catalog.pg_collation 3456 r | oid: oid; name: collname; oid: collnamespace collowner; char:
  collprovider; bool: collisdeterministic; int4: collencoding; text: collcollate collctype colliculocale
  collversion
pg_catalog.pg_config 12130 v | text: name setting
pg_catalog.pg_constraint 2606 r | oid: oid; name: conname; oid: connamespace; char: contype; bool:
  condeferrable condeferred convalidated; oid: conrelid contypid conindid conparentid confrelid; char:
  confupdtype confdeltype confmatchtype; bool: conislocal; int4: coninhcount; bool: connoinherit; _int2:
  conkey confkey; _oid: conpfeqop conppeqop conffeqop; _int2: confdelsetcols; _oid: conexclop;
  pg_node_tree: conbin
pg_catalog.pg_conversion 2607 r | oid: oid; name: conname; oid: connamespace conowner; int4:
  conforencoding contoencoding; regproc: conproc; bool: condefault
pg_catalog.pg_cursors 12077 v | text: name statement; bool: is_holdable is_binary is_scrollable;
  timestamptz: creation_time
pg_catalog.pg_database 1262 r | oid: oid; name: datname; oid: datdba; int4: encoding; char:
  datlocprovider; bool: datistemplate datallowconn; int4: datconnlimit; xid: datfrozenxid datminmxid; oid:
  dattablespace; text: datcollate datctype daticulocale datcollversion; _aclitem: datacl
pg_catalog.pg_db_role_setting 2964 r | oid: setdatabase setrole; _text: setconfig
pg_catalog.pg_default_acl 826 r | oid: oid defaclrole defaclnamespace; char: defaclobjtype; _aclitem:
  defaclacl
pg_catalog.pg_depend 2608 r | oid: classid objid; int4: objsubid; oid: refclassid refobjid; int4:
  refobjsubid; char: deptype
pg_catalog.pg_description 2609 r | oid: objoid classoid; int4: objsubid; text: description
pg_catalog.pg_enum 3501 r | oid: oid enumtypid; float4: enumsortorder; name: enumlabel
pg_catalog.pg_event_trigger 3466 r | oid: oid; name: evtname evtevent; oid: evtowner evtfoid; char:
  evtenabled; _text: evttags
pg_catalog.pg_extension 3079 r | oid: oid; name: extname; oid: extowner extnamespace; bool:
  extrelocatable; text: extversion; _oid: extconfig; _text: extcondition
pg_catalog.pg_file_settings 12110 v | text: sourcefile; int4: sourceline seqno; text: name setting; bool:
  applied; text: error
pg_catalog.pg_foreign_data_wrapper 2328 r | oid: oid; name: fdwname; oid: fdwowner fdwhandler
  fdwvalidator; _aclitem: fdwacl; _text: fdwoptions
pg_catalog.pg_foreign_server 1417 r | oid: oid; name: srvname; oid: srvowner srvfdw; text: srvtype
  srvversion; _aclitem: srvacl; _text: srvoptions
pg_catalog.pg_foreign_table 3118 r | oid: ftrelid ftserver; _text: ftoptions
pg_catalog.pg_group 12010 v | name: groname; oid: grosysid; _oid: grolist
pg_catalog.pg_hba_file_rules 12114 v | int4: line_number; text: type; _text: database user_name; text:
  address netmask auth_method; _text: options; text: error
pg_catalog.pg_ident_file_mappings 12118 v | int4: line_number; text: map_name sys_name pg_username error
pg_catalog.pg_index 2610 r | oid: indexrelid indrelid; int2: indnatts indnkeyatts; bool: indisunique
  indnullsnotdistinct indisprimary indisexclusion indimmediate indisclustered indisvalid indcheckxmin
  indisready indislive indisreplident; int2vector: indkey; oidvector: indcollation indclass; int2vector:
  indoption; pg_node_tree: indexprs indpred
pg_catalog.pg_indexes 12043 v | name: schemaname tablename indexname tablespace; text: indexdef
pg_catalog.pg_inherits 2611 r | oid: inhrelid inhparent; int4: inhseqno; bool: inhdetachpending
pg_catalog.pg_init_privs 3394 r | oid: objoid classoid; int4: objsubid; char: privtype; _aclitem:
  initprivs
pg_catalog.pg_language 2612 r | oid: oid; name: lanname; oid: lanowner; bool: lanispl lanpltrusted; oid:
  lanplcallfoid laninline lanvalidator; _aclitem: lanacl
pg_catalog.pg_largeobject 2613 r | oid: loid; int4: pageno; bytea: data
pg_catalog.pg_largeobject_metadata 2995 r | oid: oid lomowner; _aclitem: lomacl
pg_catalog.pg_locks 12073 v | text: locktype; oid: database relation; int4: page; int2: tuple; text:
  virtualxid; xid: transactionid; oid: classid objid; int2: objsubid; text: virtualtransaction; int4: pid;
  text: mode; bool: granted fastpath; timestamptz: waitstart
pg_catalog.pg_matviews 12038 v | name: schemaname matviewname matviewowner tablespace; bool: hasindexes
  ispopulated; text: definition
pg_catalog.pg_namespace 2615 r | oid: oid; name: nspname; oid: nspowner; _aclitem: nspacl
pg_catalog.pg_opclass 2616 r | oid: oid opcmethod; name: opcname; oid: opcnamespace opcowner opcfamily
  opcintype; bool: opcdefault; oid: opckeytype
pg_catalog.pg_operator 2617 r | oid: oid; name: oprname; oid: oprnamespace oprowner; char: oprkind; bool:
  oprcanmerge oprcanhash; oid: oprleft oprright oprresult oprcom oprnegate; regproc: oprcode oprrest
  oprjoin
pg_catalog.pg_opfamily 2753 r | oid: oid opfmethod; name: opfname; oid: opfnamespace opfowner
pg_catalog.pg_parameter_acl 6243 r | oid: oid; text: parname; _aclitem: paracl
pg_catalog.pg_partitioned_table 3350 r | oid: partrelid; char: partstrat; int2: partnatts; oid: partdefid;
  int2vector: partattrs; oidvector: partclass partcollation; pg_node_tree: partexprs
pg_catalog.pg_policies 12018 v | name: schemaname tablename policyname; text: permissive; _name: roles;
  text: cmd qual with_check
pg_catalog.pg_policy 3256 r | oid: oid; name: polname; oid: polrelid; char: polcmd; bool: polpermissive;
  _oid: polroles; pg_node_tree: polqual polwithcheck
pg_catalog.pg_prepared_statements 12095 v | text: name statement; timestamptz: prepare_time; _regtype:
  parameter_types; bool: from_sql; int8: generic_plans custom_plans
pg_catalog.pg_prepared_xacts 12090 v | xid: transaction; text: gid; timestamptz: prepared; name: owner
  database
pg_catalog.pg_proc 1255 r | oid: oid; name: proname; oid: pronamespace proowner prolang; float4: procost
  prorows; oid: provariadic; regproc: prosupport; char: prokind; bool: prosecdef proleakproof proisstrict
  proretset; char: provolatile proparallel; int2: pronargs pronargdefaults; oid: prorettype; oidvector:
  proargtypes; _oid: proallargtypes; _char: proargmodes; _text: proargnames; pg_node_tree: proargdefaults;
  _oid: protrftypes; text: prosrc probin; pg_node_tree: prosqlbody; _text: proconfig; _aclitem: proacl
pg_catalog.pg_publication 6104 r | oid: oid; name: pubname; oid: pubowner; bool: puballtables pubinsert
  pubupdate pubdelete pubtruncate pubviaroot
pg_catalog.pg_publication_namespace 6237 r | oid: oid pnpubid pnnspid
pg_catalog.pg_publication_rel 6106 r | oid: oid prpubid prrelid; pg_node_tree: prqual; int2vector: prattrs
pg_catalog.pg_publication_tables 12068 v | name: pubname schemaname tablename; _name: attnames; text:
  rowfilter
pg_catalog.pg_range 3541 r | oid: rngtypid rngsubtype rngmultitypid rngcollation rngsubopc; regproc:
  rngcanonical rngsubdiff
pg_catalog.pg_replication_origin 6000 r | oid: roident; text: roname
pg_catalog.pg_replication_origin_status 12332 v | oid: local_id; text: external_id; pg_lsn: remote_lsn
  local_lsn
pg_catalog.pg_replication_slots 12257 v | name: slot_name plugin; text: slot_type; oid: datoid; name:
  database; bool: temporary active; int4: active_pid; xid: xmin catalog_xmin; pg_lsn: restart_lsn
  confirmed_flush_lsn; text: wal_status; int8: safe_wal_size; bool: two_phase
pg_catalog.pg_rewrite 2618 r | oid: oid; name: rulename; oid: ev_class; char: ev_type ev_enabled; bool:
  is_instead; pg_node_tree: ev_qual ev_action
pg_catalog.pg_roles 12000 v | name: rolname; bool: rolsuper rolinherit rolcreaterole rolcreatedb
  rolcanlogin rolreplication; int4: rolconnlimit; text: rolpassword; timestamptz: rolvaliduntil; bool:
  rolbypassrls; _text: rolconfig; oid: oid
pg_catalog.pg_rules 12023 v | name: schemaname tablename rulename; text: definition
pg_catalog.pg_seclabel 3596 r | oid: objoid classoid; int4: objsubid; text: provider label
pg_catalog.pg_seclabels 12099 v | oid: objoid classoid; int4: objsubid; text: objtype; oid: objnamespace;
  text: objname provider label
pg_catalog.pg_sequence 2224 r | oid: seqrelid seqtypid; int8: seqstart seqincrement seqmax seqmin
  seqcache; bool: seqcycle
pg_catalog.pg_sequences 12048 v | name: schemaname sequencename sequenceowner; regtype: data_type; int8:
  start_value min_value max_value increment_by; bool: cycle; int8: cache_size last_value
pg_catalog.pg_settings 12104 v | text: name setting unit category short_desc extra_desc context vartype
  source min_val max_val; _text: enumvals; text: boot_val reset_val sourcefile; int4: sourceline; bool:
  pending_restart
pg_catalog.pg_shadow 12005 v | name: usename; oid: usesysid; bool: usecreatedb usesuper userepl
  usebypassrls; text: passwd; timestamptz: valuntil; _text: useconfig
pg_catalog.pg_shdepend 1214 r | oid: dbid classid objid; int4: objsubid; oid: refclassid refobjid; char:
  deptype
pg_catalog.pg_shdescription 2396 r | oid: objoid classoid; text: description
pg_catalog.pg_shmem_allocations 12134 v | text: name; int8: off size allocated_size
pg_catalog.pg_shseclabel 3592 r | oid: objoid classoid; text: provider label
pg_catalog.pg_stat_activity 12222 v | oid: datid; name: datname; int4: pid leader_pid; oid: usesysid;
  name: usename; text: application_name; inet: client_addr; text: client_hostname; int4: client_port;
  timestamptz: backend_start xact_start query_start state_change; text: wait_event_type wait_event state;
  xid: backend_xid backend_xmin; int8: query_id; text: query backend_type
pg_catalog.pg_stat_all_indexes 12183 v | oid: relid indexrelid; name: schemaname relname indexrelname;
  int8: idx_scan idx_tup_read idx_tup_fetch
pg_catalog.pg_stat_all_tables 12142 v | oid: relid; name: schemaname relname; int8: seq_scan seq_tup_read
  idx_scan idx_tup_fetch n_tup_ins n_tup_upd n_tup_del n_tup_hot_upd n_live_tup n_dead_tup
  n_mod_since_analyze n_ins_since_vacuum; timestamptz: last_vacuum last_autovacuum last_analyze
  last_autoanalyze; int8: vacuum_count autovacuum_count analyze_count autoanalyze_count
pg_catalog.pg_stat_archiver 12285 v | int8: archived_count; text: last_archived_wal; timestamptz:
  last_archived_time; int8: failed_count; text: last_failed_wal; timestamptz: last_failed_time stats_reset
pg_catalog.pg_stat_bgwriter 12289 v | int8: checkpoints_timed checkpoints_req; float8:
  checkpoint_write_time checkpoint_sync_time; int8: buffers_checkpoint buffers_clean maxwritten_clean
  buffers_backend buffers_backend_fsync buffers_alloc; timestamptz: stats_reset
pg_catalog.pg_stat_database 12266 v | oid: datid; name: datname; int4: numbackends; int8: xact_commit
  xact_rollback blks_read blks_hit tup_returned tup_fetched tup_inserted tup_updated tup_deleted conflicts
  temp_files temp_bytes deadlocks checksum_failures; timestamptz: checksum_last_failure; float8:
  blk_read_time blk_write_time session_time active_time idle_in_transaction_time; int8: sessions
  sessions_abandoned sessions_fatal sessions_killed; timestamptz: stats_reset
pg_catalog.pg_stat_database_conflicts 12271 v | oid: datid; name: datname; int8: confl_tablespace
  confl_lock confl_snapshot confl_bufferpin confl_deadlock
pg_catalog.pg_stat_gssapi 12253 v | int4: pid; bool: gss_authenticated; text: principal; bool: encrypted
pg_catalog.pg_stat_progress_analyze 12297 v | int4: pid; oid: datid; name: datname; oid: relid; text:
  phase; int8: sample_blks_total sample_blks_scanned ext_stats_total ext_stats_computed child_tables_total
  child_tables_done; oid: current_child_table_relid
pg_catalog.pg_stat_progress_basebackup 12317 v | int4: pid; text: phase; int8: backup_total
  backup_streamed tablespaces_total tablespaces_streamed
pg_catalog.pg_stat_progress_cluster 12307 v | int4: pid; oid: datid; name: datname; oid: relid; text:
  command phase; oid: cluster_index_relid; int8: heap_tuples_scanned heap_tuples_written heap_blks_total
  heap_blks_scanned index_rebuild_count
pg_catalog.pg_stat_progress_copy 12322 v | int4: pid; oid: datid; name: datname; oid: relid; text: command
  type; int8: bytes_processed bytes_total tuples_processed tuples_excluded
pg_catalog.pg_stat_progress_create_index 12312 v | int4: pid; oid: datid; name: datname; oid: relid
  index_relid; text: command phase; int8: lockers_total lockers_done current_locker_pid blocks_total
  blocks_done tuples_total tuples_done partitions_total partitions_done
pg_catalog.pg_stat_progress_vacuum 12302 v | int4: pid; oid: datid; name: datname; oid: relid; text:
  phase; int8: heap_blks_total heap_blks_scanned heap_blks_vacuumed index_vacuum_count max_dead_tuples
  num_dead_tuples
pg_catalog.pg_stat_recovery_prefetch 12240 v | timestamptz: stats_reset; int8: prefetch hit skip_init
  skip_new skip_fpw skip_rep; int4: wal_distance block_distance io_depth
pg_catalog.pg_stat_replication 12227 v | int4: pid; oid: usesysid; name: usename; text: application_name;
  inet: client_addr; text: client_hostname; int4: client_port; timestamptz: backend_start; xid:
  backend_xmin; text: state; pg_lsn: sent_lsn write_lsn flush_lsn replay_lsn; interval: write_lag
  flush_lag replay_lag; int4: sync_priority; text: sync_state; timestamptz: reply_time
pg_catalog.pg_stat_replication_slots 12262 v | text: slot_name; int8: spill_txns spill_count spill_bytes
  stream_txns stream_count stream_bytes total_txns total_bytes; timestamptz: stats_reset
pg_catalog.pg_stat_slru 12232 v | text: name; int8: blks_zeroed blks_hit blks_read blks_written
  blks_exists flushes truncates; timestamptz: stats_reset
pg_catalog.pg_stat_ssl 12249 v | int4: pid; bool: ssl; text: version cipher; int4: bits; text: client_dn;
  numeric: client_serial; text: issuer_dn
pg_catalog.pg_stat_subscription 12244 v | oid: subid; name: subname; int4: pid; oid: relid; pg_lsn:
  received_lsn; timestamptz: last_msg_send_time last_msg_receipt_time; pg_lsn: latest_end_lsn;
  timestamptz: latest_end_time
pg_catalog.pg_stat_subscription_stats 12336 v | oid: subid; name: subname; int8: apply_error_count
  sync_error_count; timestamptz: stats_reset
pg_catalog.pg_stat_sys_indexes 12188 v | oid: relid indexrelid; name: schemaname relname indexrelname;
  int8: idx_scan idx_tup_read idx_tup_fetch
pg_catalog.pg_stat_sys_tables 12152 v | oid: relid; name: schemaname relname; int8: seq_scan seq_tup_read
  idx_scan idx_tup_fetch n_tup_ins n_tup_upd n_tup_del n_tup_hot_upd n_live_tup n_dead_tup
  n_mod_since_analyze n_ins_since_vacuum; timestamptz: last_vacuum last_autovacuum last_analyze
  last_autoanalyze; int8: vacuum_count autovacuum_count analyze_count autoanalyze_count
pg_catalog.pg_stat_user_functions 12275 v | oid: funcid; name: schemaname funcname; int8: calls; float8:
  total_time self_time
pg_catalog.pg_stat_user_indexes 12192 v | oid: relid indexrelid; name: schemaname relname indexrelname;
  int8: idx_scan idx_tup_read idx_tup_fetch
pg_catalog.pg_stat_user_tables 12161 v | oid: relid; name: schemaname relname; int8: seq_scan seq_tup_read
  idx_scan idx_tup_fetch n_tup_ins n_tup_upd n_tup_del n_tup_hot_upd n_live_tup n_dead_tup
  n_mod_since_analyze n_ins_since_vacuum; timestamptz: last_vacuum last_autovacuum last_analyze
  last_autoanalyze; int8: vacuum_count autovacuum_count analyze_count autoanalyze_count
pg_catalog.pg_stat_wal 12293 v | int8: wal_records wal_fpi; numeric: wal_bytes; int8: wal_buffers_full
  wal_write wal_sync; float8: wal_write_time wal_sync_time; timestamptz: stats_reset
pg_catalog.pg_stat_wal_receiver 12236 v | int4: pid; text: status; pg_lsn: receive_start_lsn; int4:
  receive_start_tli; pg_lsn: written_lsn flushed_lsn; int4: received_tli; timestamptz: last_msg_send_time
  last_msg_receipt_time; pg_lsn: latest_end_lsn; timestamptz: latest_end_time; text: slot_name
  sender_host; int4: sender_port; text: conninfo
pg_catalog.pg_stat_xact_all_tables 12147 v | oid: relid; name: schemaname relname; int8: seq_scan
  seq_tup_read idx_scan idx_tup_fetch n_tup_ins n_tup_upd n_tup_del n_tup_hot_upd
pg_catalog.pg_stat_xact_sys_tables 12157 v | oid: relid; name: schemaname relname; int8: seq_scan
  seq_tup_read idx_scan idx_tup_fetch n_tup_ins n_tup_upd n_tup_del n_tup_hot_upd
pg_catalog.pg_stat_xact_user_functions 12280 v | oid: funcid; name: schemaname funcname; int8: calls;
  float8: total_time self_time
pg_catalog.pg_stat_xact_user_tables 12166 v | oid: relid; name: schemaname relname; int8: seq_scan
  seq_tup_read idx_scan idx_tup_fetch n_tup_ins n_tup_upd n_tup_del n_tup_hot_upd
pg_catalog.pg_statio_all_indexes 12196 v | oid: relid indexrelid; name: schemaname relname indexrelname;
  int8: idx_blks_read idx_blks_hit
pg_catalog.pg_statio_all_sequences 12209 v | oid: relid; name: schemaname relname; int8: blks_read
  blks_hit
pg_catalog.pg_statio_all_tables 12170 v | oid: relid; name: schemaname relname; int8: heap_blks_read
  heap_blks_hit idx_blks_read idx_blks_hit toast_blks_read toast_blks_hit tidx_blks_read tidx_blks_hit
pg_catalog.pg_statio_sys_indexes 12201 v | oid: relid indexrelid; name: schemaname relname indexrelname;
  int8: idx_blks_read idx_blks_hit
pg_catalog.pg_statio_sys_sequences 12214 v | oid: relid; name: schemaname relname; int8: blks_read
  blks_hit
pg_catalog.pg_statio_sys_tables 12175 v | oid: relid; name: schemaname relname; int8: heap_blks_read
  heap_blks_hit idx_blks_read idx_blks_hit toast_blks_read toast_blks_hit tidx_blks_read tidx_blks_hit
pg_catalog.pg_statio_user_indexes 12205 v | oid: relid indexrelid; name: schemaname relname indexrelname;
  int8: idx_blks_read idx_blks_hit
pg_catalog.pg_statio_user_sequences 12218 v | oid: relid; name: schemaname relname; int8: blks_read
  blks_hit
pg_catalog.pg_statio_user_tables 12179 v | oid: relid; name: schemaname relname; int8: heap_blks_read
  heap_blks_hit idx_blks_read idx_blks_hit toast_blks_read toast_blks_hit tidx_blks_read tidx_blks_hit
pg_catalog.pg_statistic 2619 r | oid: starelid; int2: staattnum; bool: stainherit; float4: stanullfrac;
  int4: stawidth; float4: stadistinct; int2: stakind1 stakind2 stakind3 stakind4 stakind5; oid: staop1
  staop2 staop3 staop4 staop5 stacoll1 stacoll2 stacoll3 stacoll4 stacoll5; _float4: stanumbers1
  stanumbers2 stanumbers3 stanumbers4 stanumbers5; anyarray: stavalues1 stavalues2 stavalues3 stavalues4
  stavalues5
pg_catalog.pg_statistic_ext 3381 r | oid: oid stxrelid; name: stxname; oid: stxnamespace stxowner; int4:
  stxstattarget; int2vector: stxkeys; _char: stxkind; pg_node_tree: stxexprs
pg_catalog.pg_statistic_ext_data 3429 r | oid: stxoid; bool: stxdinherit; pg_ndistinct: stxdndistinct;
  pg_dependencies: stxddependencies; pg_mcv_list: stxdmcv; _pg_statistic: stxdexpr
pg_catalog.pg_stats 12053 v | name: schemaname tablename attname; bool: inherited; float4: null_frac;
  int4: avg_width; float4: n_distinct; anyarray: most_common_vals; _float4: most_common_freqs; anyarray:
  histogram_bounds; float4: correlation; anyarray: most_common_elems; _float4: most_common_elem_freqs
  elem_count_histogram
pg_catalog.pg_stats_ext 12058 v | name: schemaname tablename statistics_schemaname statistics_name
  statistics_owner; _name: attnames; _text: exprs; _char: kinds; bool: inherited; pg_ndistinct:
  n_distinct; pg_dependencies: dependencies; _text: most_common_vals; _bool: most_common_val_nulls;
  _float8: most_common_freqs most_common_base_freqs
pg_catalog.pg_stats_ext_exprs 12063 v | name: schemaname tablename statistics_schemaname statistics_name
  statistics_owner; text: expr; bool: inherited; float4: null_frac; int4: avg_width; float4: n_distinct;
  anyarray: most_common_vals; _float4: most_common_freqs; anyarray: histogram_bounds; float4: correlation;
  anyarray: most_common_elems; _float4: most_common_elem_freqs elem_count_histogram
pg_catalog.pg_subscription 6100 r | oid: oid subdbid; pg_lsn: subskiplsn; name: subname; oid: subowner;
  bool: subenabled subbinary substream; char: subtwophasestate; bool: subdisableonerr; text: subconninfo;
  name: subslotname; text: subsynccommit; _text: subpublications
pg_catalog.pg_subscription_rel 6102 r | oid: srsubid srrelid; char: srsubstate; pg_lsn: srsublsn
pg_catalog.pg_tables 12033 v | name: schemaname tablename tableowner tablespace; bool: hasindexes hasrules
  hastriggers rowsecurity
pg_catalog.pg_tablespace 1213 r | oid: oid; name: spcname; oid: spcowner; _aclitem: spcacl; _text:
  spcoptions
pg_catalog.pg_timezone_abbrevs 12122 v | text: abbrev; interval: utc_offset; bool: is_dst
pg_catalog.pg_timezone_names 12126 v | text: name abbrev; interval: utc_offset; bool: is_dst
pg_catalog.pg_transform 3576 r | oid: oid trftype trflang; regproc: trffromsql trftosql
pg_catalog.pg_trigger 2620 r | oid: oid tgrelid tgparentid; name: tgname; oid: tgfoid; int2: tgtype; char:
  tgenabled; bool: tgisinternal; oid: tgconstrrelid tgconstrindid tgconstraint; bool: tgdeferrable
  tginitdeferred; int2: tgnargs; int2vector: tgattr; bytea: tgargs; pg_node_tree: tgqual; name: tgoldtable
  tgnewtable
pg_catalog.pg_ts_config 3602 r | oid: oid; name: cfgname; oid: cfgnamespace cfgowner cfgparser
pg_catalog.pg_ts_config_map 3603 r | oid: mapcfg; int4: maptokentype mapseqno; oid: mapdict
pg_catalog.pg_ts_dict 3600 r | oid: oid; name: dictname; oid: dictnamespace dictowner dicttemplate; text:
  dictinitoption
pg_catalog.pg_ts_parser 3601 r | oid: oid; name: prsname; oid: prsnamespace; regproc: prsstart prstoken
  prsend prsheadline prslextype
pg_catalog.pg_ts_template 3764 r | oid: oid; name: tmplname; oid: tmplnamespace; regproc: tmplinit
  tmpllexize
pg_catalog.pg_type 1247 r | oid: oid; name: typname; oid: typnamespace typowner; int2: typlen; bool:
  typbyval; char: typtype typcategory; bool: typispreferred typisdefined; char: typdelim; oid: typrelid;
  regproc: typsubscript; oid: typelem typarray; regproc: typinput typoutput typreceive typsend typmodin
  typmodout typanalyze; char: typalign typstorage; bool: typnotnull; oid: typbasetype; int4: typtypmod
  typndims; oid: typcollation; pg_node_tree: typdefaultbin; text: typdefault; _aclitem: typacl
pg_catalog.pg_user 12014 v | name: usename; oid: usesysid; bool: usecreatedb usesuper userepl
  usebypassrls; text: passwd; timestamptz: valuntil; _text: useconfig
pg_catalog.pg_user_mapping 1418 r | oid: oid umuser umserver; _text: umoptions
pg_catalog.pg_user_mappings 12327 v | oid: umid srvid; name: srvname; oid: umuser; name: usename; _text:
  umoptions
pg_catalog.pg_views 12028 v | name: schemaname viewname viewowner; text: definition
`;
