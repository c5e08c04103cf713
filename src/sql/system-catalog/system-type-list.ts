/**
 * The types of PostgreSQL 15 that are no row types, as its own `pg_type` lists them, without the arrays of
 * them: oid, typname, typlen, typbyval, typtype, typcategory,
 * typispreferred, typdelim, typelem, typarray, typinput, typoutput, typreceive, typsend, typalign,
 * typstorage, typbasetype, typcollation, and what `format_type` writes.
 */
export const systemTypeList = `
16 bool 1 t b B t , 0 1000 boolin boolout boolrecv boolsend c p 0 0 boolean
17 bytea -1 f b U f , 0 1001 byteain byteaout bytearecv byteasend i x 0 0 bytea
18 char 1 t b Z f , 0 1002 charin charout charrecv charsend c p 0 0 "char"
19 name 64 f b S f , 18 1003 namein nameout namerecv namesend c p 0 950 name
20 int8 8 t b N f , 0 1016 int8in int8out int8recv int8send d p 0 0 bigint
21 int2 2 t b N f , 0 1005 int2in int2out int2recv int2send s p 0 0 smallint
22 int2vector -1 f b A f , 21 1006 int2vectorin int2vectorout int2vectorrecv int2vectorsend i p 0 0 int2vector
23 int4 4 t b N f , 0 1007 int4in int4out int4recv int4send i p 0 0 integer
24 regproc 4 t b N f , 0 1008 regprocin regprocout regprocrecv regprocsend i p 0 0 regproc
25 text -1 f b S t , 0 1009 textin textout textrecv textsend i x 0 100 text
26 oid 4 t b N t , 0 1028 oidin oidout oidrecv oidsend i p 0 0 oid
27 tid 6 f b U f , 0 1010 tidin tidout tidrecv tidsend s p 0 0 tid
28 xid 4 t b U f , 0 1011 xidin xidout xidrecv xidsend i p 0 0 xid
29 cid 4 t b U f , 0 1012 cidin cidout cidrecv cidsend i p 0 0 cid
30 oidvector -1 f b A f , 26 1013 oidvectorin oidvectorout oidvectorrecv oidvectorsend i p 0 0 oidvector
32 pg_ddl_command 8 t p P f , 0 0 pg_ddl_command_in pg_ddl_command_out pg_ddl_command_recv pg_ddl_command_send d p 0 0 pg_ddl_command
114 json -1 f b U f , 0 199 json_in json_out json_recv json_send i x 0 0 json
142 xml -1 f b U f , 0 143 xml_in xml_out xml_recv xml_send i x 0 0 xml
194 pg_node_tree -1 f b Z f , 0 0 pg_node_tree_in pg_node_tree_out pg_node_tree_recv pg_node_tree_send i x 0 100 pg_node_tree
269 table_am_handler 4 t p P f , 0 0 table_am_handler_in table_am_handler_out - - i p 0 0 table_am_handler
325 index_am_handler 4 t p P f , 0 0 index_am_handler_in index_am_handler_out - - i p 0 0 index_am_handler
600 point 16 f b G f , 701 1017 point_in point_out point_recv point_send d p 0 0 point
601 lseg 32 f b G f , 600 1018 lseg_in lseg_out lseg_recv lseg_send d p 0 0 lseg
602 path -1 f b G f , 0 1019 path_in path_out path_recv path_send d x 0 0 path
603 box 32 f b G f ; 600 1020 box_in box_out box_recv box_send d p 0 0 box
604 polygon -1 f b G f , 0 1027 poly_in poly_out poly_recv poly_send d x 0 0 polygon
628 line 24 f b G f , 701 629 line_in line_out line_recv line_send d p 0 0 line
650 cidr -1 f b I f , 0 651 cidr_in cidr_out cidr_recv cidr_send i m 0 0 cidr
700 float4 4 t b N f , 0 1021 float4in float4out float4recv float4send i p 0 0 real
701 float8 8 t b N t , 0 1022 float8in float8out float8recv float8send d p 0 0 double precision
705 unknown -2 f p X f , 0 0 unknownin unknownout unknownrecv unknownsend c p 0 0 unknown
718 circle 24 f b G f , 0 719 circle_in circle_out circle_recv circle_send d p 0 0 circle
774 macaddr8 8 f b U f , 0 775 macaddr8_in macaddr8_out macaddr8_recv macaddr8_send i p 0 0 macaddr8
790 money 8 t b N f , 0 791 cash_in cash_out cash_recv cash_send d p 0 0 money
829 macaddr 6 f b U f , 0 1040 macaddr_in macaddr_out macaddr_recv macaddr_send i p 0 0 macaddr
869 inet -1 f b I t , 0 1041 inet_in inet_out inet_recv inet_send i m 0 0 inet
1033 aclitem 12 f b U f , 0 1034 aclitemin aclitemout - - i p 0 0 aclitem
1042 bpchar -1 f b S f , 0 1014 bpcharin bpcharout bpcharrecv bpcharsend i x 0 100 character
1043 varchar -1 f b S f , 0 1015 varcharin varcharout varcharrecv varcharsend i x 0 100 character varying
1082 date 4 t b D f , 0 1182 date_in date_out date_recv date_send i p 0 0 date
1083 time 8 t b D f , 0 1183 time_in time_out time_recv time_send d p 0 0 time without time zone
1114 timestamp 8 t b D f , 0 1115 timestamp_in timestamp_out timestamp_recv timestamp_send d p 0 0 timestamp without time zone
1184 timestamptz 8 t b D t , 0 1185 timestamptz_in timestamptz_out timestamptz_recv timestamptz_send d p 0 0 timestamp with time zone
1186 interval 16 f b T t , 0 1187 interval_in interval_out interval_recv interval_send d p 0 0 interval
1266 timetz 12 f b D f , 0 1270 timetz_in timetz_out timetz_recv timetz_send d p 0 0 time with time zone
1560 bit -1 f b V f , 0 1561 bit_in bit_out bit_recv bit_send i x 0 0 bit
1562 varbit -1 f b V t , 0 1563 varbit_in varbit_out varbit_recv varbit_send i x 0 0 bit varying
1700 numeric -1 f b N f , 0 1231 numeric_in numeric_out numeric_recv numeric_send i m 0 0 numeric
1790 refcursor -1 f b U f , 0 2201 textin textout textrecv textsend i x 0 0 refcursor
2202 regprocedure 4 t b N f , 0 2207 regprocedurein regprocedureout regprocedurerecv regproceduresend i p 0 0 regprocedure
2203 regoper 4 t b N f , 0 2208 regoperin regoperout regoperrecv regopersend i p 0 0 regoper
2204 regoperator 4 t b N f , 0 2209 regoperatorin regoperatorout regoperatorrecv regoperatorsend i p 0 0 regoperator
2205 regclass 4 t b N f , 0 2210 regclassin regclassout regclassrecv regclasssend i p 0 0 regclass
2206 regtype 4 t b N f , 0 2211 regtypein regtypeout regtyperecv regtypesend i p 0 0 regtype
2249 record -1 f p P f , 0 2287 record_in record_out record_recv record_send d x 0 0 record
2275 cstring -2 f p P f , 0 1263 cstring_in cstring_out cstring_recv cstring_send c p 0 0 cstring
2276 any 4 t p P f , 0 0 any_in any_out - - i p 0 0 "any"
2277 anyarray -1 f p P f , 0 0 anyarray_in anyarray_out anyarray_recv anyarray_send d x 0 0 anyarray
2278 void 4 t p P f , 0 0 void_in void_out void_recv void_send i p 0 0 void
2279 trigger 4 t p P f , 0 0 trigger_in trigger_out - - i p 0 0 trigger
2280 language_handler 4 t p P f , 0 0 language_handler_in language_handler_out - - i p 0 0 language_handler
2281 internal 8 t p P f , 0 0 internal_in internal_out - - d p 0 0 internal
2283 anyelement 4 t p P f , 0 0 anyelement_in anyelement_out - - i p 0 0 anyelement
2287 _record -1 f p P f , 2249 0 array_in array_out array_recv array_send d x 0 0 record[]
2776 anynonarray 4 t p P f , 0 0 anynonarray_in anynonarray_out - - i p 0 0 anynonarray
2950 uuid 16 f b U f , 0 2951 uuid_in uuid_out uuid_recv uuid_send c p 0 0 uuid
2970 txid_snapshot -1 f b U f , 0 2949 txid_snapshot_in txid_snapshot_out txid_snapshot_recv txid_snapshot_send d x 0 0 txid_snapshot
3115 fdw_handler 4 t p P f , 0 0 fdw_handler_in fdw_handler_out - - i p 0 0 fdw_handler
3220 pg_lsn 8 t b U f , 0 3221 pg_lsn_in pg_lsn_out pg_lsn_recv pg_lsn_send d p 0 0 pg_lsn
3310 tsm_handler 4 t p P f , 0 0 tsm_handler_in tsm_handler_out - - i p 0 0 tsm_handler
3361 pg_ndistinct -1 f b Z f , 0 0 pg_ndistinct_in pg_ndistinct_out pg_ndistinct_recv pg_ndistinct_send i x 0 100 pg_ndistinct
3402 pg_dependencies -1 f b Z f , 0 0 pg_dependencies_in pg_dependencies_out pg_dependencies_recv pg_dependencies_send i x 0 100 pg_dependencies
3500 anyenum 4 t p P f , 0 0 anyenum_in anyenum_out - - i p 0 0 anyenum
3614 tsvector -1 f b U f , 0 3643 tsvectorin tsvectorout tsvectorrecv tsvectorsend i x 0 0 tsvector
3615 tsquery -1 f b U f , 0 3645 tsqueryin tsqueryout tsqueryrecv tsquerysend i p 0 0 tsquery
3642 gtsvector -1 f b U f , 0 3644 gtsvectorin gtsvectorout - - i p 0 0 gtsvector
3734 regconfig 4 t b N f , 0 3735 regconfigin regconfigout regconfigrecv regconfigsend i p 0 0 regconfig
3769 regdictionary 4 t b N f , 0 3770 regdictionaryin regdictionaryout regdictionaryrecv regdictionarysend i p 0 0 regdictionary
3802 jsonb -1 f b U f , 0 3807 jsonb_in jsonb_out jsonb_recv jsonb_send i x 0 0 jsonb
3831 anyrange -1 f p P f , 0 0 anyrange_in anyrange_out - - d x 0 0 anyrange
3838 event_trigger 4 t p P f , 0 0 event_trigger_in event_trigger_out - - i p 0 0 event_trigger
3904 int4range -1 f r R f , 0 3905 range_in range_out range_recv range_send i x 0 0 int4range
3906 numrange -1 f r R f , 0 3907 range_in range_out range_recv range_send i x 0 0 numrange
3908 tsrange -1 f r R f , 0 3909 range_in range_out range_recv range_send d x 0 0 tsrange
3910 tstzrange -1 f r R f , 0 3911 range_in range_out range_recv range_send d x 0 0 tstzrange
3912 daterange -1 f r R f , 0 3913 range_in range_out range_recv range_send i x 0 0 daterange
3926 int8range -1 f r R f , 0 3927 range_in range_out range_recv range_send d x 0 0 int8range
4072 jsonpath -1 f b U f , 0 4073 jsonpath_in jsonpath_out jsonpath_recv jsonpath_send i x 0 0 jsonpath
4089 regnamespace 4 t b N f , 0 4090 regnamespacein regnamespaceout regnamespacerecv regnamespacesend i p 0 0 regnamespace
4096 regrole 4 t b N f , 0 4097 regrolein regroleout regrolerecv regrolesend i p 0 0 regrole
4191 regcollation 4 t b N f , 0 4192 regcollationin regcollationout regcollationrecv regcollationsend i p 0 0 regcollation
4451 int4multirange -1 f m R f , 0 6150 multirange_in multirange_out multirange_recv multirange_send i x 0 0 int4multirange
4532 nummultirange -1 f m R f , 0 6151 multirange_in multirange_out multirange_recv multirange_send i x 0 0 nummultirange
4533 tsmultirange -1 f m R f , 0 6152 multirange_in multirange_out multirange_recv multirange_send d x 0 0 tsmultirange
4534 tstzmultirange -1 f m R f , 0 6153 multirange_in multirange_out multirange_recv multirange_send d x 0 0 tstzmultirange
4535 datemultirange -1 f m R f , 0 6155 multirange_in multirange_out multirange_recv multirange_send i x 0 0 datemultirange
4536 int8multirange -1 f m R f , 0 6157 multirange_in multirange_out multirange_recv multirange_send d x 0 0 int8multirange
4537 anymultirange -1 f p P f , 0 0 anymultirange_in anymultirange_out - - d x 0 0 anymultirange
4538 anycompatiblemultirange -1 f p P f , 0 0 anycompatiblemultirange_in anycompatiblemultirange_out - - d x 0 0 anycompatiblemultirange
4600 pg_brin_bloom_summary -1 f b Z f , 0 0 brin_bloom_summary_in brin_bloom_summary_out brin_bloom_summary_recv brin_bloom_summary_send i x 0 100 pg_brin_bloom_summary
4601 pg_brin_minmax_multi_summary -1 f b Z f , 0 0 brin_minmax_multi_summary_in brin_minmax_multi_summary_out brin_minmax_multi_summary_recv brin_minmax_multi_summary_send i x 0 100 pg_brin_minmax_multi_summary
5017 pg_mcv_list -1 f b Z f , 0 0 pg_mcv_list_in pg_mcv_list_out pg_mcv_list_recv pg_mcv_list_send i x 0 100 pg_mcv_list
5038 pg_snapshot -1 f b U f , 0 5039 pg_snapshot_in pg_snapshot_out pg_snapshot_recv pg_snapshot_send d x 0 0 pg_snapshot
5069 xid8 8 t b U f , 0 271 xid8in xid8out xid8recv xid8send d p 0 0 xid8
5077 anycompatible 4 t p P f , 0 0 anycompatible_in anycompatible_out - - i p 0 0 anycompatible
5078 anycompatiblearray -1 f p P f , 0 0 anycompatiblearray_in anycompatiblearray_out anycompatiblearray_recv anycompatiblearray_send d x 0 0 anycompatiblearray
5079 anycompatiblenonarray 4 t p P f , 0 0 anycompatiblenonarray_in anycompatiblenonarray_out - - i p 0 0 anycompatiblenonarray
5080 anycompatiblerange -1 f p P f , 0 0 anycompatiblerange_in anycompatiblerange_out - - d x 0 0 anycompatiblerange
`;

/** Object ids of the functions that `pg_type` names, from `pg_proc`. */
export const systemFunctionList = `
heap_tableam_handler=3 bthandler=330 int4range_canonical=3914 int8range_canonical=3928
daterange_canonical=3915 int4range_subdiff=3922 int8range_subdiff=3923 numrange_subdiff=3924
daterange_subdiff=3925 tsrange_subdiff=3929 tstzrange_subdiff=3930
aclitemin=1031 aclitemout=1032 any_in=2294 any_out=2295 anyarray_in=2296 anyarray_out=2297
anyarray_recv=2502 anyarray_send=2503 anycompatible_in=5086 anycompatible_out=5087
anycompatiblearray_in=5088 anycompatiblearray_out=5089 anycompatiblearray_recv=5090
anycompatiblearray_send=5091 anycompatiblemultirange_in=4226 anycompatiblemultirange_out=4227
anycompatiblenonarray_in=5092 anycompatiblenonarray_out=5093 anycompatiblerange_in=5094
anycompatiblerange_out=5095 anyelement_in=2312 anyelement_out=2313 anyenum_in=3504 anyenum_out=3505
anymultirange_in=4229 anymultirange_out=4230 anynonarray_in=2777 anynonarray_out=2778 anyrange_in=3832
anyrange_out=3833 array_in=750 array_out=751 array_recv=2400 array_send=2401 bit_in=1564 bit_out=1565
bit_recv=2456 bit_send=2457 boolin=1242 boolout=1243 boolrecv=2436 boolsend=2437 box_in=123 box_out=124
box_recv=2484 box_send=2485 bpcharin=1044 bpcharout=1045 bpcharrecv=2430 bpcharsend=2431
brin_bloom_summary_in=4596 brin_bloom_summary_out=4597 brin_bloom_summary_recv=4598
brin_bloom_summary_send=4599 brin_minmax_multi_summary_in=4638 brin_minmax_multi_summary_out=4639
brin_minmax_multi_summary_recv=4640 brin_minmax_multi_summary_send=4641 byteain=1244 byteaout=31
bytearecv=2412 byteasend=2413 cash_in=886 cash_out=887 cash_recv=2492 cash_send=2493 charin=1245
charout=33 charrecv=2434 charsend=2435 cidin=52 cidout=53 cidr_in=1267 cidr_out=1427 cidr_recv=2498
cidr_send=2499 cidrecv=2442 cidsend=2443 circle_in=1450 circle_out=1451 circle_recv=2490 circle_send=2491
cstring_in=2292 cstring_out=2293 cstring_recv=2500 cstring_send=2501 date_in=1084 date_out=1085
date_recv=2468 date_send=2469 event_trigger_in=3594 event_trigger_out=3595 fdw_handler_in=3116
fdw_handler_out=3117 float4in=200 float4out=201 float4recv=2424 float4send=2425 float8in=214 float8out=215
float8recv=2426 float8send=2427 gtsvectorin=3646 gtsvectorout=3647 index_am_handler_in=326
index_am_handler_out=327 inet_in=910 inet_out=911 inet_recv=2496 inet_send=2497 int2in=38 int2out=39
int2recv=2404 int2send=2405 int2vectorin=40 int2vectorout=41 int2vectorrecv=2410 int2vectorsend=2411
int4in=42 int4out=43 int4recv=2406 int4send=2407 int8in=460 int8out=461 int8recv=2408 int8send=2409
internal_in=2304 internal_out=2305 interval_in=1160 interval_out=1161 interval_recv=2478
interval_send=2479 json_in=321 json_out=322 json_recv=323 json_send=324 jsonb_in=3806 jsonb_out=3804
jsonb_recv=3805 jsonb_send=3803 jsonpath_in=4001 jsonpath_out=4003 jsonpath_recv=4002 jsonpath_send=4004
language_handler_in=2302 language_handler_out=2303 line_in=1490 line_out=1491 line_recv=2488
line_send=2489 lseg_in=119 lseg_out=120 lseg_recv=2480 lseg_send=2481 macaddr8_in=4110 macaddr8_out=4111
macaddr8_recv=3446 macaddr8_send=3447 macaddr_in=436 macaddr_out=437 macaddr_recv=2494 macaddr_send=2495
multirange_in=4231 multirange_out=4232 multirange_recv=4233 multirange_send=4234 namein=34 nameout=35
namerecv=2422 namesend=2423 numeric_in=1701 numeric_out=1702 numeric_recv=2460 numeric_send=2461
oidin=1798 oidout=1799 oidrecv=2418 oidsend=2419 oidvectorin=54 oidvectorout=55 oidvectorrecv=2420
oidvectorsend=2421 path_in=121 path_out=122 path_recv=2482 path_send=2483 pg_ddl_command_in=86
pg_ddl_command_out=87 pg_ddl_command_recv=88 pg_ddl_command_send=90 pg_dependencies_in=3404
pg_dependencies_out=3405 pg_dependencies_recv=3406 pg_dependencies_send=3407 pg_lsn_in=3229
pg_lsn_out=3230 pg_lsn_recv=3238 pg_lsn_send=3239 pg_mcv_list_in=5018 pg_mcv_list_out=5019
pg_mcv_list_recv=5020 pg_mcv_list_send=5021 pg_ndistinct_in=3355 pg_ndistinct_out=3356
pg_ndistinct_recv=3357 pg_ndistinct_send=3358 pg_node_tree_in=195 pg_node_tree_out=196
pg_node_tree_recv=197 pg_node_tree_send=198 pg_snapshot_in=5055 pg_snapshot_out=5056 pg_snapshot_recv=5057
pg_snapshot_send=5058 point_in=117 point_out=118 point_recv=2428 point_send=2429 poly_in=347 poly_out=348
poly_recv=2486 poly_send=2487 range_in=3834 range_out=3835 range_recv=3836 range_send=3837 record_in=2290
record_out=2291 record_recv=2402 record_send=2403 regclassin=2218 regclassout=2219 regclassrecv=2452
regclasssend=2453 regcollationin=4193 regcollationout=4194 regcollationrecv=4196 regcollationsend=4197
regconfigin=3736 regconfigout=3737 regconfigrecv=3738 regconfigsend=3739 regdictionaryin=3771
regdictionaryout=3772 regdictionaryrecv=3773 regdictionarysend=3774 regnamespacein=4084
regnamespaceout=4085 regnamespacerecv=4087 regnamespacesend=4088 regoperatorin=2216 regoperatorout=2217
regoperatorrecv=2450 regoperatorsend=2451 regoperin=2214 regoperout=2215 regoperrecv=2448 regopersend=2449
regprocedurein=2212 regprocedureout=2213 regprocedurerecv=2446 regproceduresend=2447 regprocin=44
regprocout=45 regprocrecv=2444 regprocsend=2445 regrolein=4098 regroleout=4092 regrolerecv=4094
regrolesend=4095 regtypein=2220 regtypeout=2221 regtyperecv=2454 regtypesend=2455 table_am_handler_in=267
table_am_handler_out=268 textin=46 textout=47 textrecv=2414 textsend=2415 tidin=48 tidout=49 tidrecv=2438
tidsend=2439 time_in=1143 time_out=1144 time_recv=2470 time_send=2471 timestamp_in=1312 timestamp_out=1313
timestamp_recv=2474 timestamp_send=2475 timestamptz_in=1150 timestamptz_out=1151 timestamptz_recv=2476
timestamptz_send=2477 timetz_in=1350 timetz_out=1351 timetz_recv=2472 timetz_send=2473 trigger_in=2300
trigger_out=2301 tsm_handler_in=3311 tsm_handler_out=3312 tsqueryin=3612 tsqueryout=3613 tsqueryrecv=3641
tsquerysend=3640 tsvectorin=3610 tsvectorout=3611 tsvectorrecv=3639 tsvectorsend=3638
txid_snapshot_in=2939 txid_snapshot_out=2940 txid_snapshot_recv=2941 txid_snapshot_send=2942 unknownin=109
unknownout=110 unknownrecv=2416 unknownsend=2417 uuid_in=2952 uuid_out=2953 uuid_recv=2961 uuid_send=2962
varbit_in=1579 varbit_out=1580 varbit_recv=2458 varbit_send=2459 varcharin=1046 varcharout=1047
varcharrecv=2432 varcharsend=2433 void_in=2298 void_out=2299 void_recv=3120 void_send=3121 xid8in=5070
xid8out=5081 xid8recv=5082 xid8send=5083 xidin=50 xidout=51 xidrecv=2440 xidsend=2441 xml_in=2893
xml_out=2894 xml_recv=2898 xml_send=2899
`;
