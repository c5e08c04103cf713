//! Works with tokio-postgres, as its users do; prints a line for each check.

use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};
use futures_util::{future::join_all, pin_mut, TryStreamExt};
use std::{env, error::Error, fmt::Debug, future::Future, time::Duration};
use tokio_postgres::{types::Type, Client, Config, NoTls};

type Outcome = Result<(), Box<dyn Error>>;

fn same<T: PartialEq + Debug>(expected: T, actual: T) -> Outcome {
    if expected == actual {
        return Ok(());
    }
    Err(format!("expected {expected:?}, got {actual:?}").into())
}

async fn check(failed: &mut u32, name: &str, work: impl Future<Output = Outcome>) {
    match work.await {
        Ok(()) => println!("ok {name}"),
        Err(error) => {
            *failed += 1;
            println!("failed {name}: {error:?}");
        }
    }
}

async fn connect() -> Result<Client, Box<dyn Error>> {
    let (client, connection) = Config::new()
        .host("127.0.0.1")
        .port(env::var("PGPORT")?.parse()?)
        .user(env::var("PGUSER")?)
        .password(env::var("PGPASSWORD")?)
        .dbname("millrace")
        .application_name("tokio-postgres")
        .connect(NoTls)
        .await?;
    tokio::spawn(connection);
    Ok(client)
}

fn state_of<T>(result: Result<T, tokio_postgres::Error>) -> String {
    match result {
        Ok(_) => "none".into(),
        Err(error) => error.code().map_or(format!("{error:?}"), |code| code.code().into()),
    }
}

const ENDLESS: &str =
    "select sum(a.n * b.n) from generate_series(1, 1000000) a(n), generate_series(1, 1000000) b(n)";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    let mut client = connect().await?;
    let mut failed = 0;
    let moment: DateTime<Utc> = "2024-02-29T10:34:56.123456Z".parse()?;

    check(&mut failed, "tokio-postgres: parameters and results in binary", async {
        let statement = client
            .prepare("select $1::bool, $2::int2, $3::int4, $4::int8, $5::float8, $6::text, $7::date, $8::timestamp, $9::timestamptz, $10::jsonb, $11::int4[], $12::text[], $13::text")
            .await?;
        same(&[Type::BOOL, Type::INT2, Type::INT4, Type::INT8, Type::FLOAT8, Type::TEXT, Type::DATE, Type::TIMESTAMP, Type::TIMESTAMPTZ, Type::JSONB, Type::INT4_ARRAY, Type::TEXT_ARRAY, Type::TEXT][..], statement.params())?;
        let day: NaiveDate = "2024-02-29".parse()?;
        let local: NaiveDateTime = moment.naive_utc();
        let json = serde_json::json!({"a": [1, "b"]});
        let numbers = vec![Some(1i32), None];
        let words = vec!["a,b", "\"q\""];
        let none: Option<&str> = None;
        for _ in 0..2 {
            let row = client
                .query_one(&statement, &[&true, &-3i16, &70000i32, &9007199254740993i64, &0.1f64, &"it's ü", &day, &local, &moment, &json, &numbers, &words, &none])
                .await?;
            same((true, -3i16, 70000i32), (row.get(0), row.get(1), row.get(2)))?;
            same((9007199254740993i64, 0.1f64, "it's ü"), (row.get(3), row.get(4), row.get(5)))?;
            same((day, local, moment), (row.get(6), row.get(7), row.get(8)))?;
            same(json.clone(), row.get(9))?;
            same((numbers.clone(), words.clone(), none), (row.get(10), row.get(11), row.get(12)))?;
        }
        Ok(())
    })
    .await;

    check(&mut failed, "tokio-postgres: types that are inferred", async {
        let statement = client.prepare("select level, ms, ok, p_timestamp from app where level = $1 and ms > $2 and p_timestamp < $3 limit $4").await?;
        same(&[Type::TEXT, Type::FLOAT8, Type::TIMESTAMPTZ, Type::INT8][..], statement.params())?;
        let rows = client.query(&statement, &[&"warn", &10f64, &Utc::now(), &5i64]).await?;
        same(5, rows.len())?;
        same("warn", rows[0].get::<_, &str>("level"))?;
        let columns: Vec<_> = statement.columns().iter().map(|column| column.type_().clone()).collect();
        same(vec![Type::TEXT, Type::FLOAT8, Type::BOOL, Type::TIMESTAMPTZ], columns)
    })
    .await;

    check(&mut failed, "tokio-postgres: types that the client names", async {
        let statement = client.prepare_typed("select $1, $2 where $3", &[Type::INT8, Type::FLOAT8, Type::BOOL]).await?;
        let row = client.query_one(&statement, &[&7i64, &0.5f64, &true]).await?;
        same((7i64, 0.5f64), (row.get(0), row.get(1)))
    })
    .await;

    check(&mut failed, "tokio-postgres: queries in a pipeline, with one that fails", async {
        let statement = client.prepare("select $1::int8 + 1").await?;
        let values: Vec<i64> = (0..50).collect();
        let answers = join_all(values.iter().map(|n| client.query_one(&statement, std::slice::from_ref(n).iter().map(|n| n as &(dyn tokio_postgres::types::ToSql + Sync)).collect::<Vec<_>>().leak()))).await;
        for (n, answer) in answers.into_iter().enumerate() {
            same(n as i64 + 1, answer?.get(0))?;
        }
        let (one, two, three) = tokio::join!(
            client.query_one("select 1", &[]),
            client.query_one("select nope from app", &[]),
            client.query_one("select 3", &[])
        );
        same((1, "42703".into(), 3), (one?.get(0), state_of(two), three?.get(0)))
    })
    .await;

    check(&mut failed, "tokio-postgres: a portal that is read in parts", async {
        let transaction = client.transaction().await?;
        let portal = transaction.bind("select n from generate_series(1, 250) as g(n)", &[]).await?;
        let mut counts = Vec::new();
        loop {
            let rows = transaction.query_portal(&portal, 100).await?;
            counts.push(rows.len());
            if rows.len() < 100 {
                break;
            }
        }
        transaction.commit().await?;
        same(vec![100, 100, 50], counts)
    })
    .await;

    check(&mut failed, "tokio-postgres: rows as a stream", async {
        let rows = client.query_raw("select n from generate_series(1, 100000) as g(n)", Vec::<i32>::new()).await?;
        pin_mut!(rows);
        let mut sum = 0i64;
        while let Some(row) = rows.try_next().await? {
            sum += i64::from(row.get::<_, i32>(0));
        }
        same(5_000_050_000, sum)
    })
    .await;

    check(&mut failed, "tokio-postgres: a transaction with a savepoint and an error", async {
        let mut transaction = client.build_transaction().read_only(true).start().await?;
        let inner = transaction.savepoint("inside").await?;
        same("42P01".to_string(), state_of(inner.query("select * from nope", &[]).await))?;
        same("25P02".to_string(), state_of(inner.query("select 1", &[]).await))?;
        inner.rollback().await?;
        same(60i64, transaction.query_one("select count(*) from app", &[]).await?.get(0))?;
        Ok(transaction.commit().await?)
    })
    .await;

    check(&mut failed, "tokio-postgres: COPY out in binary, and in", async {
        let stream = client.copy_out("copy (select id, level from app where id < 2 order by id) to stdout binary").await?;
        let rows = tokio_postgres::binary_copy::BinaryCopyOutStream::new(stream, &[Type::FLOAT8, Type::TEXT]);
        pin_mut!(rows);
        let mut levels = Vec::new();
        while let Some(row) = rows.try_next().await? {
            levels.push((row.get::<f64>(0), row.get::<&str>(1).to_string()));
        }
        same(vec![(0.0, "info".to_string()), (1.0, "warn".to_string())], levels)?;
        same("25006".to_string(), state_of(client.copy_in::<_, bytes::Bytes>("copy app from stdin").await))
    })
    .await;

    check(&mut failed, "tokio-postgres: simple queries, and writes", async {
        let messages = client.simple_query("select 1 as a; show server_version; set application_name = 'x'").await?;
        same(true, messages.len() >= 5)?;
        same("25006".to_string(), state_of(client.execute("insert into app (level) values ($1)", &[&"x"]).await))
    })
    .await;

    check(&mut failed, "tokio-postgres: cancel", async {
        let token = client.cancel_token();
        let (result, cancelled) = tokio::join!(client.query(ENDLESS, &[]), async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            token.cancel_query(NoTls).await
        });
        cancelled?;
        same("57014".to_string(), state_of(result))?;
        same(1, client.query_one("select 1", &[]).await?.get(0))
    })
    .await;

    std::process::exit(i32::from(failed > 0));
}
