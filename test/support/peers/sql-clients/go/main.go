// Works with pgx and lib/pq, as their users do; prints a line for each check.
package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/lib/pq"
)

var failed = 0

func check(name string, work func() error) {
	if err := work(); err != nil {
		failed++
		fmt.Printf("failed %s: %s\n", name, strings.ReplaceAll(err.Error(), "\n", " "))
		return
	}
	fmt.Println("ok", name)
}

func same(expected, actual any) error {
	if !reflect.DeepEqual(expected, actual) {
		return fmt.Errorf("expected %#v, got %#v", expected, actual)
	}
	return nil
}

func all(problems ...error) error { return errors.Join(problems...) }

func address(options string) string {
	// Both drivers read PGPASSWORD.
	return fmt.Sprintf("postgres://%s@127.0.0.1:%s/millrace?%s", os.Getenv("PGUSER"), os.Getenv("PGPORT"), options)
}

func stateOf(err error) string {
	var fromPgx *pgconn.PgError
	if errors.As(err, &fromPgx) {
		return fromPgx.Code
	}
	var fromPq *pq.Error
	if errors.As(err, &fromPq) {
		return string(fromPq.Code)
	}
	return fmt.Sprint(err)
}

const endless = "select sum(a.n * b.n) from generate_series(1, 1000000) a(n), generate_series(1, 1000000) b(n)"

var moment = time.Date(2024, 2, 29, 10, 34, 56, 123456000, time.UTC)

func main() {
	ctx, stop := context.WithTimeout(context.Background(), 90*time.Second)
	defer stop()
	withPgx(ctx)
	withDatabaseSQL(ctx, "pgx", "database/sql with pgx")
	withDatabaseSQL(ctx, "postgres", "lib/pq")
	withPq(ctx)
	if failed > 0 {
		os.Exit(1)
	}
}

func withPgx(ctx context.Context) {
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		check("pgx: types and parameters, default_query_exec_mode="+mode, func() error {
			conn, err := pgx.Connect(ctx, address("default_query_exec_mode="+mode))
			if err != nil {
				return err
			}
			defer conn.Close(ctx)
			for range 3 {
				var yes bool
				var small int16
				var four int32
				var eight int64
				var double float64
				var number pgtype.Numeric
				var text string
				var day, at time.Time
				var none *string
				var numbers []*int32
				var words []string
				err = conn.QueryRow(ctx,
					"select $1::bool, $2::int2, $3::int4, $4::int8, $5::float8, $6::numeric, $7::text, $8::date, $9::timestamptz, $10::text, array[1, null]::int4[], $11::text[]",
					true, int16(-3), int32(70000), int64(9007199254740993), 0.1, "1.50", "it's ü", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), moment, nil, []string{"a,b", "\"q\""},
				).Scan(&yes, &small, &four, &eight, &double, &number, &text, &day, &at, &none, &numbers, &words)
				if err != nil {
					return err
				}
				value, _ := number.MarshalJSON()
				one := int32(1)
				if err = all(same(true, yes), same(int16(-3), small), same(int32(70000), four), same(int64(9007199254740993), eight),
					same(0.1, double), same("1.50", string(value)), same("it's ü", text), same(2024*1000+60, day.Year()*1000+day.YearDay()),
					same(true, at.Equal(moment)), same((*string)(nil), none), same([]*int32{&one, nil}, numbers), same([]string{"a,b", "\"q\""}, words)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	conn, err := pgx.Connect(ctx, address("application_name=pgx"))
	if err != nil {
		check("pgx: connect", func() error { return err })
		return
	}
	defer conn.Close(ctx)
	check("pgx: rows into a struct, a JSON value, a time", func() error {
		rows, err := conn.Query(ctx, "select p_timestamp as at, level, ms, ok from app where level = $1 order by id", "warn")
		if err != nil {
			return err
		}
		type event struct {
			At    time.Time
			Level string
			Ms    *float64
			Ok    *bool
		}
		events, err := pgx.CollectRows(rows, pgx.RowToStructByName[event])
		if err != nil {
			return err
		}
		var object map[string]any
		err = conn.QueryRow(ctx, `select '{"a": [1, 2]}'::jsonb`).Scan(&object)
		return all(err, same(15, len(events)), same("warn", events[0].Level), same(map[string]any{"a": []any{1.0, 2.0}}, object))
	})
	check("pgx: a batch", func() error {
		batch := &pgx.Batch{}
		for n := range 50 {
			batch.Queue("select $1::int8 + 1", n)
		}
		results := conn.SendBatch(ctx, batch)
		defer results.Close()
		for n := range 50 {
			var next int
			if err := all(results.QueryRow().Scan(&next), same(n+1, next)); err != nil {
				return err
			}
		}
		return results.Close()
	})
	check("pgx: a batch with an error, and another query behind it", func() error {
		batch := &pgx.Batch{}
		batch.Queue("select 1")
		batch.Queue("select nope from app")
		batch.Queue("select 3")
		err := conn.SendBatch(ctx, batch).Close()
		var n int
		return all(same("42703", stateOf(err)), conn.QueryRow(ctx, "select 4").Scan(&n), same(4, n))
	})
	check("pgx: a transaction, read-only, with a savepoint and an error in it", func() error {
		tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
		if err != nil {
			return err
		}
		defer tx.Rollback(ctx)
		var level string
		if err = all(tx.QueryRow(ctx, "show transaction_isolation").Scan(&level), same("repeatable read", level)); err != nil {
			return err
		}
		inner, err := tx.Begin(ctx)
		if err != nil {
			return err
		}
		_, err = inner.Exec(ctx, "select * from nope")
		_, second := inner.Exec(ctx, "select 1")
		if err = all(same("42P01", stateOf(err)), same("25P02", stateOf(second)), inner.Rollback(ctx)); err != nil {
			return err
		}
		var n int
		return all(tx.QueryRow(ctx, "select count(*) from app").Scan(&n), same(60, n), tx.Commit(ctx))
	})
	check("pgx: a cursor of SQL", func() error {
		tx, err := conn.Begin(ctx)
		if err != nil {
			return err
		}
		defer tx.Rollback(ctx)
		if _, err = tx.Exec(ctx, "declare c cursor for select n from generate_series(1, 1000) as g(n)"); err != nil {
			return err
		}
		total := 0
		for {
			rows, err := tx.Query(ctx, "fetch forward 300 from c")
			if err != nil {
				return err
			}
			numbers, err := pgx.CollectRows(rows, pgx.RowTo[int])
			if err != nil {
				return err
			}
			if len(numbers) == 0 {
				break
			}
			total += len(numbers)
		}
		return same(1000, total)
	})
	check("pgx: COPY out, and in", func() error {
		var out bytes.Buffer
		_, err := conn.PgConn().CopyTo(ctx, &out, "copy (select id, level from app where id < 2 order by id) to stdout csv")
		_, refused := conn.CopyFrom(ctx, pgx.Identifier{"app"}, []string{"level"}, pgx.CopyFromRows([][]any{{"x"}}))
		return all(err, same("0,info\n1,warn\n", out.String()), same("25006", stateOf(refused)))
	})
	check("pgx: errors have a code, a message and a position", func() error {
		_, err := conn.Exec(ctx, "select nope from app")
		var from *pgconn.PgError
		if !errors.As(err, &from) {
			return fmt.Errorf("another error: %w", err)
		}
		_, written := conn.Exec(ctx, "insert into app (level) values ($1)", "x")
		return all(same("42703", from.Code), same(int32(8), from.Position), same("25006", stateOf(written)))
	})
	check("pgx: a context that ends cancels the query", func() error {
		conn, err := pgx.Connect(ctx, address(""))
		if err != nil {
			return err
		}
		defer conn.Close(ctx)
		time.AfterFunc(300*time.Millisecond, func() { conn.PgConn().CancelRequest(ctx) })
		_, err = conn.Exec(ctx, endless)
		var n int
		return all(same("57014", stateOf(err)), conn.QueryRow(ctx, "select 1").Scan(&n), same(1, n))
	})
	check("pgx: a pool", func() error {
		pool, err := pgxpool.New(ctx, address("pool_max_conns=4"))
		if err != nil {
			return err
		}
		defer pool.Close()
		problems := make(chan error)
		for range 16 {
			go func() {
				var n int
				problems <- all(pool.QueryRow(ctx, "select count(*) from app where ms > $1", 10.0).Scan(&n), same(45, n))
			}()
		}
		for range 16 {
			err = all(err, <-problems)
		}
		return err
	})
	check("pgx: a pipeline", func() error {
		pipeline := conn.PgConn().StartPipeline(ctx)
		for range 3 {
			pipeline.SendQueryParams("select count(*) from app where level = $1", [][]byte{[]byte("warn")}, nil, nil, nil)
		}
		if err := pipeline.Sync(); err != nil {
			return err
		}
		for range 3 {
			result, err := pipeline.GetResults()
			if err != nil {
				return err
			}
			read := result.(*pgconn.ResultReader).Read()
			if err = all(read.Err, same("15", string(read.Rows[0][0]))); err != nil {
				return err
			}
		}
		if _, err := pipeline.GetResults(); err != nil {
			return err
		}
		return pipeline.Close()
	})
	check("pgx: types by name", func() error {
		_, err := conn.LoadTypes(ctx, []string{"jsonb", "_text"})
		return err
	})
}

func withDatabaseSQL(ctx context.Context, driver, name string) {
	options := "sslmode=disable"
	db, err := sql.Open(driver, address(options))
	if err != nil {
		check(name+": open", func() error { return err })
		return
	}
	defer db.Close()
	check(name+": ping", func() error { return db.PingContext(ctx) })
	check(name+": parameters and types", func() error {
		var level string
		var ms sql.NullFloat64
		var ok sql.NullBool
		var at time.Time
		err := db.QueryRowContext(ctx, "select level, ms, ok, p_timestamp from app where id = $1 and level = $2", 2, "error").Scan(&level, &ms, &ok, &at)
		return all(err, same("error", level), same(sql.NullFloat64{Float64: 2.99, Valid: true}, ms), same(true, ok.Valid && ok.Bool), same(true, time.Since(at) < time.Hour))
	})
	check(name+": a prepared statement, with times and bytes", func() error {
		statement, err := db.PrepareContext(ctx, "select $1::timestamptz, $2::text, $3::float8, $4::bool")
		if err != nil {
			return err
		}
		defer statement.Close()
		for range 3 {
			var at time.Time
			var text string
			var double float64
			var yes bool
			if err = all(statement.QueryRowContext(ctx, moment, "x", 1e300, true).Scan(&at, &text, &double, &yes),
				same(true, at.Equal(moment)), same("x", text), same(1e300, double), same(true, yes)); err != nil {
				return err
			}
		}
		return nil
	})
	check(name+": columns of a result", func() error {
		rows, err := db.QueryContext(ctx, "select level, ms, p_timestamp, 1::int4 as n from app limit 1")
		if err != nil {
			return err
		}
		defer rows.Close()
		types, err := rows.ColumnTypes()
		if err != nil {
			return err
		}
		names := []string{}
		for _, each := range types {
			names = append(names, each.Name()+" "+each.DatabaseTypeName())
		}
		return same([]string{"level TEXT", "ms FLOAT8", "p_timestamp TIMESTAMPTZ", "n INT4"}, names)
	})
	check(name+": a transaction, and errors", func() error {
		tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelSerializable})
		if err != nil {
			return err
		}
		var n int
		if err = all(tx.QueryRow("select count(*) from app").Scan(&n), same(60, n), tx.Commit()); err != nil {
			return err
		}
		_, written := db.Exec("delete from app")
		_, unknown := db.Query("select * from nope")
		return all(same("25006", stateOf(written)), same("42P01", stateOf(unknown)))
	})
	check(name+": a context that ends cancels the query", func() error {
		short, stop := context.WithTimeout(ctx, 300*time.Millisecond)
		defer stop()
		_, err := db.ExecContext(short, endless)
		if err == nil {
			return errors.New("no error")
		}
		var n int
		return all(db.QueryRowContext(ctx, "select count(*) from app").Scan(&n), same(60, n))
	})
}

func withPq(ctx context.Context) {
	check("lib/pq: binary parameters, arrays", func() error {
		db, err := sql.Open("postgres", address("sslmode=disable&binary_parameters=yes"))
		if err != nil {
			return err
		}
		defer db.Close()
		var numbers pq.Int64Array
		var words pq.StringArray
		var n int
		return all(
			db.QueryRowContext(ctx, "select array[1, 2], array['a b', 'c']").Scan(&numbers, &words),
			same(pq.Int64Array{1, 2}, numbers), same(pq.StringArray{"a b", "c"}, words),
			db.QueryRowContext(ctx, "select count(*) from app where level = any($1)", pq.Array([]string{"info", "warn"})).Scan(&n), same(30, n),
			db.QueryRowContext(ctx, "select count(*) from app where ms > $1", 10).Scan(&n), same(45, n),
		)
	})
	check("lib/pq: COPY in is refused", func() error {
		db, err := sql.Open("postgres", address("sslmode=disable"))
		if err != nil {
			return err
		}
		defer db.Close()
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		defer tx.Rollback()
		_, err = tx.Prepare(pq.CopyIn("app", "level"))
		return same("25006", stateOf(err))
	})
	check("lib/pq: a wrong password", func() error {
		db, err := sql.Open("postgres", strings.Replace(address("sslmode=disable"), "@", ":wrong@", 1))
		if err != nil {
			return err
		}
		defer db.Close()
		return same("28P01", stateOf(db.PingContext(ctx)))
	})
}
