// Works with Npgsql, as its users, Entity Framework and Power BI do; prints a line for each check.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Data;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Npgsql;
using NpgsqlTypes;

static class Program
{
    const string Endless = "select sum(a.n * b.n) from generate_series(1, 1000000) a(n), generate_series(1, 1000000) b(n)";
    static int failed;

    static void Check(string name, Action<NpgsqlConnection> work, string options = "")
    {
        try
        {
            using (var db = Connect(options)) work(db);
            Console.WriteLine("ok Npgsql: " + name);
        }
        catch (Exception e)
        {
            failed++;
            var text = e is PostgresException ? ((PostgresException)e).SqlState + " " + e.Message : e.ToString();
            Console.WriteLine("failed Npgsql: " + name + ": " + text.Replace("\n", " "));
        }
    }

    static string Address(string options)
    {
        return "Host=127.0.0.1;Database=millrace;Port=" + Environment.GetEnvironmentVariable("PGPORT")
            + ";Username=" + Environment.GetEnvironmentVariable("PGUSER")
            + ";Password=" + Environment.GetEnvironmentVariable("PGPASSWORD") + ";" + options;
    }

    static NpgsqlConnection Connect(string options)
    {
        var db = new NpgsqlConnection(Address(options));
        db.Open();
        return db;
    }

    /// <summary>A value as text, lists and arrays with what they hold.</summary>
    static string Text(object value)
    {
        if (value == null || value is DBNull) return "null";
        if (value is string) return (string)value;
        if (value is bool) return (bool)value ? "true" : "false";
        if (value is DateTime) return ((DateTime)value).ToString("yyyy-MM-dd HH:mm:ss.ffffff");
        if (value is IEnumerable) return "[" + string.Join(",", ((IEnumerable)value).Cast<object>().Select(Text)) + "]";
        return value is IFormattable ? ((IFormattable)value).ToString(null, null) : value.ToString();
    }

    static void Same(string expected, object actual)
    {
        if (expected != Text(actual)) throw new Exception("expected " + expected + ", got " + Text(actual));
    }

    static NpgsqlCommand Command(NpgsqlConnection db, string sql, params object[] parameters)
    {
        var command = new NpgsqlCommand(sql, db);
        for (var i = 0; i < parameters.Length; i++)
        {
            var given = parameters[i] as NpgsqlParameter ?? new NpgsqlParameter { Value = parameters[i] };
            given.ParameterName = "p" + i;
            command.Parameters.Add(given);
        }
        return command;
    }

    static string Rows(NpgsqlCommand command)
    {
        using (var reader = command.ExecuteReader()) return RowsOf(reader);
    }

    static string RowsOf(NpgsqlDataReader reader)
    {
        var rows = new List<string>();
        while (reader.Read())
            rows.Add(string.Join("|", Enumerable.Range(0, reader.FieldCount).Select(i => Text(reader.GetValue(i)))));
        return string.Join("\n", rows);
    }

    static string StateOf(Action work)
    {
        try
        {
            work();
            return "none";
        }
        catch (PostgresException e)
        {
            return e.SqlState;
        }
    }

    static int Main()
    {
        Check("what the driver says of the server", db =>
        {
            Same("15", db.PostgreSqlVersion.Major);
            Same("millrace", db.Database);
            Same("true", db.HasIntegerDateTimes);
            Same("UTC", db.Timezone);
        });

        Check("types of results, in binary", db =>
        {
            Same(
                "true|7|70000|9007199254740993|0.1|1.50|ü|x|2024-02-29 00:00:00.000000|2024-02-29 12:34:56.123456"
                    + "|{\"a\": 1}|null",
                Rows(Command(db,
                    "select true, 7::int2, 70000::int4, 9007199254740993::int8, 0.1::float8, 1.50::numeric(10,2), "
                        + "'ü'::text, 'x'::varchar, date '2024-02-29', timestamp '2024-02-29 12:34:56.123456', "
                        + "'{\"a\":1}'::jsonb, null::int")));
        });

        Check("names and types of columns", db =>
        {
            using (var reader = Command(db, "select level, ms, ok, id, p_timestamp, message from app limit 1").ExecuteReader())
            {
                Same("[level,ms,ok,id,p_timestamp,message]", Enumerable.Range(0, 6).Select(reader.GetName));
                Same(
                    "[text,double precision,boolean,double precision,timestamp with time zone,text]",
                    Enumerable.Range(0, 6).Select(reader.GetDataTypeName));
                Same("[System.String,System.Double]", new[] { reader.GetFieldType(0), reader.GetFieldType(1) });
            }
        });

        Check("times with a zone, in that of the session, and intervals", db =>
        {
            using (var reader = Command(db,
                "select timestamptz '2024-02-29 12:34:56+02', interval '3 days 04:05:06.789', "
                    + "timestamptz '2024-02-29 12:34:56+02'").ExecuteReader())
            {
                reader.Read();
                Same("2024-02-29 10:34:56.000000", reader.GetDateTime(0).ToUniversalTime());
                Same("3.04:05:06.7890000", reader.GetTimeSpan(1));
                Same("638447996960000000", reader.GetFieldValue<DateTimeOffset>(2).UtcTicks);
            }
        });

        Check("arrays", db =>
        {
            Same("[1,2,3]|[a,b]|[0.5]|[true,false]",
                Rows(Command(db, "select array[1,2,3], array['a','b'], array[0.5::float8], array[true,false]")));
        });

        Check("parameters of each type, there and back in binary", db =>
        {
            Same("7|9007199254740993|0.1|1.50|it's ü|true",
                Rows(Command(db, "select @p0, @p1, @p2, @p3, @p4, @p5", 7, 9007199254740993L, 0.1, 1.50m, "it's ü", true)));
            Same("2024-02-29 12:34:56.123000",
                Rows(Command(db, "select @p0", new DateTime(2024, 2, 29, 12, 34, 56, 123))));
            Same("[1,2]|[a,it's]", Rows(Command(db, "select @p0, @p1", new[] { 1, 2 }, new[] { "a", "it's" })));
            var json = new NpgsqlParameter { NpgsqlDbType = NpgsqlDbType.Jsonb, Value = "{\"a\": [1]}" };
            Same("1", Rows(Command(db, "select (@p0 -> 'a' ->> 0)::int", json)));
            var none = new NpgsqlParameter { NpgsqlDbType = NpgsqlDbType.Text, Value = DBNull.Value };
            Same("null", Rows(Command(db, "select @p0", none)));
        });

        Check("parameters in conditions", db =>
        {
            Same("11", Rows(Command(db, "select count(*) from app where ms > @p0 and level = @p1", 10.0, "warn")));
            Same("30", Rows(Command(db, "select count(*) from app where level = any(@p0)", (object)new[] { "info", "warn" })));
            Same("60", Rows(Command(db, "select count(*) from app where p_timestamp > @p0 and p_timestamp <= @p1",
                new NpgsqlParameter { NpgsqlDbType = NpgsqlDbType.TimestampTz, Value = DateTime.UtcNow.AddHours(-1) },
                new NpgsqlParameter { NpgsqlDbType = NpgsqlDbType.TimestampTz, Value = DateTime.UtcNow.AddHours(1) })));
            Same("error\ndebug", Rows(Command(db, "select level from app order by id limit @p0 offset @p1", 2, 2)));
        });

        Check("a prepared statement, executed several times", db =>
        {
            using (var command = Command(db, "select count(*) from app where id < @p0", 0.0))
            {
                command.Prepare();
                foreach (var bound in new[] { 10, 20, 60 })
                {
                    command.Parameters[0].Value = (double)bound;
                    Same(bound.ToString(), command.ExecuteScalar());
                }
                command.Unprepare();
            }
        });

        Check("statements that are prepared by themselves", db =>
        {
            for (var i = 0; i < 8; i++) Same("15", Command(db, "select count(*) from app where level = @p0", "warn").ExecuteScalar());
            for (var i = 0; i < 40; i++) Same(i.ToString(), Command(db, "select " + i % 5 + " + @p0", i - i % 5).ExecuteScalar());
        }, "Max Auto Prepare=3;Auto Prepare Min Usages=2");

        Check("several statements in one command", db =>
        {
            using (var reader = Command(db, "select @p0; select level from app where id = @p1; select 3", 1, 2.0).ExecuteReader())
            {
                var results = new List<string>();
                do results.Add(RowsOf(reader)); while (reader.NextResult());
                Same("[1,error,3]", results);
            }
        });

        Check("an error in the second of several statements", db =>
        {
            Same("22012", StateOf(() => Command(db, "select 1; select 1 / 0; select 3").ExecuteNonQuery()));
            Same("1", Command(db, "select 1").ExecuteScalar());
        });

        Check("the schema of a result, alone and with keys", db =>
        {
            using (var reader = Command(db, "select level, ms from app").ExecuteReader(CommandBehavior.SchemaOnly))
            {
                var columns = reader.GetColumnSchema();
                Same("[level,ms]", columns.Select(column => column.ColumnName));
                Same("[text,double precision]", columns.Select(column => column.DataTypeName));
            }
            using (var reader = Command(db, "select level as l, ms * 2 from app").ExecuteReader(CommandBehavior.KeyInfo))
            {
                var table = reader.GetSchemaTable();
                Same("[l,null]", table.Rows.Cast<DataRow>().Select(row => row["ColumnName"]));
            }
        });

        Check("a data table filled by an adapter", db =>
        {
            var table = new DataTable();
            new NpgsqlDataAdapter("select level, ms from app where id in (1, 2) order by id", db).Fill(table);
            Same("[warn,error]", table.Rows.Cast<DataRow>().Select(row => row["level"]));
        });

        Check("collections of the schema, as tools browse them", db =>
        {
            foreach (DataRow collection in db.GetSchema().Rows)
            {
                var name = (string)collection["CollectionName"];
                try { db.GetSchema(name); }
                catch (PostgresException e) { throw new Exception(name + ": " + e.Message); }
            }
            var tables = db.GetSchema("Tables", new[] { null, "public", null, null });
            Same("true", tables.Rows.Cast<DataRow>().Any(row => (string)row["table_name"] == "app"));
            var columns = db.GetSchema("Columns", new[] { null, "public", "app", "ms" });
            Same("[float8]", columns.Rows.Cast<DataRow>().Select(row => row["data_type"]));
        });

        Check("a transaction, a savepoint, and an error within", db =>
        {
            using (var transaction = db.BeginTransaction(IsolationLevel.RepeatableRead))
            {
                Same("60", Command(db, "select count(*) from app").ExecuteScalar());
                transaction.Save("before");
                Same("22012", StateOf(() => Command(db, "select 1 / 0").ExecuteScalar()));
                Same("25P02", StateOf(() => Command(db, "select 1").ExecuteScalar()));
                transaction.Rollback("before");
                Same("1", Command(db, "select 1").ExecuteScalar());
                transaction.Commit();
            }
            using (db.BeginTransaction()) Same("1", Command(db, "select 1").ExecuteScalar());
            Same("2", Command(db, "select 2").ExecuteScalar());
        });

        Check("a cursor", db =>
        {
            using (db.BeginTransaction())
            {
                Command(db, "declare c cursor for select id from app order by id").ExecuteNonQuery();
                Same("0\n1\n2", Rows(Command(db, "fetch 3 from c")));
                Same("3\n4", Rows(Command(db, "fetch forward 2 from c")));
                Command(db, "close c").ExecuteNonQuery();
            }
        });

        Check("COPY in text and in binary", db =>
        {
            using (var reader = db.BeginTextExport("copy (select id, level from app order by id limit 2) to stdout (format csv)"))
                Same("0,info\n1,warn\n", reader.ReadToEnd());
            using (var reader = db.BeginBinaryExport("copy (select level, ms, 7 from app where id = 2) to stdout (format binary)"))
            {
                Same("3", reader.StartRow());
                Same("error", reader.Read<string>());
                Same("2.99", reader.Read<double>(NpgsqlDbType.Double));
                Same("7", reader.Read<int>());
                Same("-1", reader.StartRow());
            }
            using (var raw = db.BeginRawBinaryCopy("copy (select 1) to stdout (format binary)"))
            {
                var bytes = new byte[11];
                raw.Read(bytes, 0, 11);
                Same("80", bytes[0]);
            }
            Same("1", Command(db, "select 1").ExecuteScalar());
        });

        Check("errors: state, position, and that all is read-only", db =>
        {
            try
            {
                Command(db, "select nothing_of_the_kind from app").ExecuteScalar();
                throw new Exception("no error");
            }
            catch (PostgresException e)
            {
                Same("42703", e.SqlState);
                Same("8", e.Position);
            }
            Same("42P01", StateOf(() => Command(db, "select * from nothing_of_the_kind").ExecuteScalar()));
            Same("42601", StateOf(() => Command(db, "selec 1").ExecuteScalar()));
            Same("25006", StateOf(() => Command(db, "delete from app").ExecuteNonQuery()));
            Same("25006", StateOf(() => Command(db, "insert into app (level) values (@p0)", "x").ExecuteNonQuery()));
            using (var other = new NpgsqlConnection(Address("Pooling=false").Replace("Password=", "Password=x")))
                Same("28P01", StateOf(other.Open));
        });

        Check("a statement that is cancelled, and one that takes too long", db =>
        {
            using (var command = Command(db, Endless))
            {
                var cancelling = Task.Run(() =>
                {
                    while (db.FullState != (ConnectionState.Open | ConnectionState.Executing)) Thread.Sleep(10);
                    Thread.Sleep(300);
                    command.Cancel();
                });
                Same("57014", StateOf(() => command.ExecuteScalar()));
                cancelling.Wait();
            }
            Same("1", Command(db, "select 1").ExecuteScalar());
            Command(db, "set statement_timeout = '300ms'").ExecuteNonQuery();
            Same("57014", StateOf(() => Command(db, Endless).ExecuteScalar()));
            Same("1", Command(db, "select 1").ExecuteScalar());
        }, "Pooling=false");

        Check("the pool: a session is given back clean", db =>
        {
            const string small = "Maximum Pool Size=1;Application Name=pooled";
            int first;
            using (var one = Connect(small))
            {
                first = one.ProcessID;
                Command(one, "set timezone = 'Europe/Berlin'").ExecuteNonQuery();
                Same("Europe/Berlin", Command(one, "show timezone").ExecuteScalar());
            }
            using (var two = Connect(small))
            {
                Same(first.ToString(), two.ProcessID);
                Same("UTC", Command(two, "show timezone").ExecuteScalar());
                Same("pooled", Command(two, "show application_name").ExecuteScalar());
            }
        });

        Check("what a connection asks for: path, zone, encoding, keep-alive", db =>
        {
            Same("public", Command(db, "show search_path").ExecuteScalar());
            Same("Asia/Tokyo", db.Timezone);
            Thread.Sleep(1500);
            Same("1", Command(db, "select 1").ExecuteScalar());
        }, "Search Path=public;Timezone=Asia/Tokyo;Client Encoding=UTF8;Keepalive=1;SSL Mode=Prefer;Read Buffer Size=4096");

        Check("100,000 rows, one value at a time", db =>
        {
            using (var reader = Command(db, "select n, n::text from generate_series(1, 100000) as s(n)")
                .ExecuteReader(CommandBehavior.SequentialAccess))
            {
                long sum = 0;
                while (reader.Read()) sum += Convert.ToInt64(reader.GetValue(0)) + reader.GetString(1).Length;
                Same("5000538895", sum);
            }
            // A reader that is closed early reads the rest, and the session goes on.
            using (var reader = Command(db, "select * from generate_series(1, 50000)").ExecuteReader()) reader.Read();
            Same("1", Command(db, "select 1").ExecuteScalar());
        });

        Check("several connections at a time, asynchronous", db =>
        {
            var works = Enumerable.Range(0, 8).Select(async i =>
            {
                using (var own = new NpgsqlConnection(Address("")))
                {
                    await own.OpenAsync();
                    using (var command = Command(own, "select count(*) + @p0 from app", i))
                        return Convert.ToInt64(await command.ExecuteScalarAsync());
                }
            });
            Same("[60,61,62,63,64,65,66,67]", Task.WhenAll(works).Result);
        });

        Check("what Entity Framework makes of a query", db =>
        {
            Same("error|15\nwarn|15", Rows(Command(db,
                "SELECT a.\"level\" AS \"Level\", COUNT(*)::INT AS \"Count\" FROM \"app\" AS a "
                    + "WHERE a.\"level\" IN ('warn', 'error') AND ((a.\"id\" >= @p0) AND a.\"id\" IS NOT NULL) "
                    + "GROUP BY a.\"level\" ORDER BY COUNT(*)::INT DESC, a.\"level\" LIMIT @p1", 0.0, 10)));
            Same("true", Rows(Command(db, "SELECT EXISTS (SELECT 1 FROM \"app\" AS a WHERE (a.\"level\" = @p0) AND (@p0 IS NOT NULL))", "warn")));
            Same("warn", Rows(Command(db,
                "SELECT t.\"level\" FROM (SELECT a.\"level\", a.\"id\" FROM \"app\" AS a ORDER BY a.\"id\" NULLS FIRST LIMIT @p0 OFFSET @p1) AS t",
                1, 1)));
        });

        return failed == 0 ? 0 : 1;
    }
}
