<?php
// Works with PHP's PDO and pgsql, as their users do; prints a line for each check.
$failed = 0;
function check(string $name, callable $work): void {
    global $failed;
    try {
        $work();
        echo "ok PHP $name\n";
    } catch (Throwable $error) {
        $failed++;
        echo "failed PHP $name: ", str_replace("\n", ' ', $error->getMessage()), "\n";
    }
}
function same(mixed $expected, mixed $actual): void {
    if ($expected !== $actual) throw new Exception('expected ' . json_encode($expected) . ', got ' . json_encode($actual));
}
function stateOf(callable $work): string {
    try {
        $work();
    } catch (PDOException $error) {
        return $error->errorInfo[0];
    }
    return 'none';
}

$source = 'pgsql:host=127.0.0.1;port=' . getenv('PGPORT') . ';dbname=millrace';
$db = new PDO($source, getenv('PGUSER'), getenv('PGPASSWORD'));
foreach ([false, true] as $emulated) {
    $db->setAttribute(PDO::ATTR_EMULATE_PREPARES, $emulated);
    check('PDO: parameters' . ($emulated ? ' that are written into the statement' : ''), function () use ($db) {
        $statement = $db->prepare('select level, ms, ok, message from app where ms > :ms and level = :level order by id');
        for ($i = 0; $i < 3; $i++) {
            $statement->bindValue('ms', 70.5);
            $statement->bindValue('level', 'warn');
            $statement->execute();
            $rows = $statement->fetchAll(PDO::FETCH_ASSOC);
            same(['level' => 'warn', 'ms' => '72.86', 'ok' => false], array_diff_key($rows[0], ['message' => 0]));
        }
        $typed = $db->prepare('select ?::int8 + 1, ?::text, ?::bool, ?::text');
        $typed->bindValue(1, 41, PDO::PARAM_INT);
        $typed->bindValue(2, "it's \\ ü");
        $typed->bindValue(3, true, PDO::PARAM_BOOL);
        $typed->bindValue(4, null, PDO::PARAM_NULL);
        $typed->execute();
        same([42, "it's \\ ü", true, null], $typed->fetch(PDO::FETCH_NUM));
    });
}
check('PDO: columns of a result', function () use ($db) {
    $statement = $db->query('select level, ms, p_timestamp from app limit 1');
    same('float8', $statement->getColumnMeta(1)['native_type']);
    same('timestamptz', $statement->getColumnMeta(2)['native_type']);
});
check('PDO: a transaction, an error in it, writes', function () use ($db) {
    $db->beginTransaction();
    same('42P01', stateOf(fn() => $db->query('select * from nope')));
    same('25P02', stateOf(fn() => $db->query('select 1')));
    $db->rollBack();
    same('25006', stateOf(fn() => $db->exec("insert into app (level) values ('x')")));
    same('60', (string) $db->query('select count(*) from app')->fetchColumn());
});
check('PDO: a cursor', function () use ($db) {
    $db->beginTransaction();
    $db->exec('declare c cursor for select n from generate_series(1, 250) as g(n)');
    same([100, 100, 50], array_map(fn() => count($db->query('fetch 100 from c')->fetchAll()), [1, 2, 3]));
    $db->commit();
});
check('PDO: COPY', function () use ($db) {
    same(["0\tinfo\n", "1\twarn\n"], $db->pgsqlCopyToArray('(select id, level from app where id < 2 order by id)'));
});
check('pgsql: parameters, prepared statements, columns, cancel', function () {
    $connection = pg_connect('host=127.0.0.1 dbname=millrace'); // the rest is in the environment
    same('15', pg_fetch_result(pg_query_params($connection, 'select count(*) from app where level = $1', ['warn']), 0, 0));
    pg_prepare($connection, 'mine', 'select level from app where id = $1');
    same('error', pg_fetch_result(pg_execute($connection, 'mine', [2]), 0, 0));
    same('timestamptz', pg_meta_data($connection, 'app')['p_timestamp']['type']);
    same('float8', pg_field_type(pg_query($connection, 'select ms from app limit 1'), 0));
    pg_send_query($connection, 'select sum(a.n * b.n) from generate_series(1, 1000000) a(n), generate_series(1, 1000000) b(n)');
    same(true, pg_cancel_query($connection));
    same('1', pg_fetch_result(pg_query($connection, 'select 1'), 0, 0));
});
exit($failed > 0 ? 1 : 0);
