# Works with Ruby's pg, as its users do, and as ActiveRecord's adapter does; prints a line for each check.
require 'pg'

$failed = 0
def check(name)
  yield
  puts "ok Ruby pg: #{name}"
rescue StandardError => e
  $failed += 1
  puts "failed Ruby pg: #{name}: #{e.class} #{e.message.tr("\n", ' ')}"
end

def same(expected, actual)
  raise "expected #{expected.inspect}, got #{actual.inspect}" unless expected == actual
end

def state_of
  yield
  'none'
rescue PG::Error => e
  e.result&.error_field(PG::Result::PG_DIAG_SQLSTATE) || e.class.name
end

connect = lambda do
  PG.connect(host: '127.0.0.1', port: ENV['PGPORT'], dbname: 'millrace', user: ENV['PGUSER'], password: ENV['PGPASSWORD'])
end
db = connect.call
endless = 'select sum(a.n * b.n) from generate_series(1, 1000000) a(n), generate_series(1, 1000000) b(n)'

check('types in text, by its map of types') do
  db.type_map_for_results = PG::BasicTypeMapForResults.new(db)
  db.type_map_for_queries = PG::BasicTypeMapForQueries.new(db)
  row = db.exec_params('select $1::int8 as a, $2::float8 as b, $3::bool as c, $4::text as d, $5::timestamptz as e, array[1, null] as f',
                       [9_007_199_254_740_993, 0.1, true, "it's ü", Time.utc(2024, 2, 29, 10, 34, 56)])[0]
  same([9_007_199_254_740_993, 0.1, true, "it's ü", Time.utc(2024, 2, 29, 10, 34, 56), [1, nil]], row.values)
end
check('results in binary') do
  result = db.exec_params('select 7::int4, 0.5::float8, true', [], 1)
  same([7, 0.5, true], result.values[0])
end
check('prepared statements') do
  db.prepare('mine', 'select level from app where id = $1')
  same('error', db.exec_prepared('mine', [2]).getvalue(0, 0))
  same(1, db.describe_prepared('mine').nparams)
  db.exec('deallocate mine')
end
check('one row at a time') do
  db.send_query('select n from generate_series(1, 1000) as g(n)')
  db.set_single_row_mode
  count = 0
  db.get_result.stream_each { count += 1 }
  db.get_result
  same(1000, count)
end
check('a transaction with an error') do
  state = state_of { db.transaction { |c| c.exec('select * from nope') } }
  same('42P01', state)
  same(PG::PQTRANS_IDLE, db.transaction_status)
end
check('writes are refused') { same('25006', state_of { db.exec("insert into app (level) values ('x')") }) }
check('COPY') do
  lines = []
  db.copy_data('copy (select id, level from app where id < 2 order by id) to stdout csv') do
    while (line = db.get_copy_data)
      lines << line
    end
  end
  same(["0,info\n", "1,warn\n"], lines)
end
check('cancel') do
  db.send_query(endless)
  sleep 0.2
  db.cancel
  same('57014', state_of { db.get_last_result })
  same(1, db.exec('select 1').getvalue(0, 0).to_i)
end
check('what ActiveRecord sends at connect') do
  db.exec("SET client_min_messages TO 'warning'")
  db.exec('SET standard_conforming_strings = on')
  db.exec('SET intervalstyle = iso_8601') rescue db.exec('SET intervalstyle = postgres')
  db.exec("SET SESSION timezone TO 'UTC'")
  db.exec('SELECT t.oid, t.typname, t.typelem, t.typdelim, t.typinput, r.rngsubtype, t.typtype, t.typbasetype FROM pg_type as t ' \
          'LEFT JOIN pg_range as r ON oid = rngtypid WHERE t.typname IN (\'int2\', \'int4\', \'jsonb\') OR t.typtype IN (\'r\', \'e\', \'d\') ' \
          'OR t.typinput = \'array_in(cstring,oid,integer)\'::regprocedure OR t.typelem != 0')
  rows = db.exec('SELECT a.attname, format_type(a.atttypid, a.atttypmod), pg_get_expr(d.adbin, d.adrelid), a.attnotnull, a.atttypid, a.atttypmod, ' \
                 'c.collname, col_description(a.attrelid, a.attnum) AS comment, attidentity AS identity, attgenerated as attgenerated ' \
                 'FROM pg_attribute a LEFT JOIN pg_attrdef d ON a.attrelid = d.adrelid AND a.attnum = d.adnum ' \
                 'LEFT JOIN pg_type t ON a.atttypid = t.oid LEFT JOIN pg_collation c ON a.attcollation = c.oid AND a.attcollation <> t.typcollation ' \
                 "WHERE a.attrelid = '\"app\"'::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum")
  same(true, rows.map { |row| row['attname'] }.include?('level'))
end
exit($failed.positive? ? 1 : 0)
