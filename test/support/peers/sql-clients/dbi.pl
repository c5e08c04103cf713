# Works with Perl's DBD::Pg, as its users do; prints a line for each check.
use strict;
use warnings;
use utf8;
use DBI;
use DBD::Pg qw(:pg_types :async);
binmode(STDOUT, ':utf8');

my $failed = 0;
sub check {
  my ($name, $work) = @_;
  if (eval { $work->(); 1 }) { print "ok DBD::Pg: $name\n" }
  else { $failed++; (my $text = $@) =~ s/\n/ /g; print "failed DBD::Pg: $name: $text\n" }
}
sub same {
  my ($expected, $actual) = map { defined $_ ? $_ : 'undef' } @_;
  die "expected $expected, got $actual" if $expected ne $actual;
}
sub flat { join ',', map { ref $_ ? '[' . flat(@$_) . ']' : defined $_ ? $_ : 'undef' } @_ }

my $source = "dbi:Pg:host=127.0.0.1;port=$ENV{PGPORT};dbname=millrace";
my %options = (RaiseError => 1, PrintError => 0, AutoCommit => 1, pg_enable_utf8 => 1);
my $db = DBI->connect($source, $ENV{PGUSER}, $ENV{PGPASSWORD}, \%options);
my $endless = 'select sum(a.n * b.n) from generate_series(1, 1000000) a(n), generate_series(1, 1000000) b(n)';

check 'ping, version and settings', sub {
  same(3, $db->ping > 0 ? 3 : 0);
  same(150000, $db->{pg_server_version});
  same('UTF8', ($db->selectrow_array('show client_encoding'))[0]);
};
check 'parameters, often enough for a server prepare', sub {
  my $statement = $db->prepare('select level, ms, ok, message from app where ms > ? and level = ? and message like ? order by id');
  for (1 .. 3) {
    $statement->execute(20, "warn", "Ü%");
    same('[warn,50.94,0,Überlauf ✓ emoji 😀]', flat($statement->fetchrow_arrayref));
    $statement->finish;
  }
  same('level,ms,ok,message', flat(@{ $statement->{NAME} }));
};
check 'named placeholders, NULL, types that are bound', sub {
  my $statement = $db->prepare('select $1::int8 + 1, $2::text is null, $3::bool, $4::text[], $5::timestamptz');
  $statement->bind_param(1, 41, { pg_type => PG_INT8 });
  $statement->bind_param(2, undef);
  $statement->bind_param(3, 't', { pg_type => PG_BOOL });
  $statement->bind_param(4, ['a,b', undef]);
  $statement->bind_param(5, '2024-02-29 12:34:56+02');
  $statement->execute;
  same('42,1,1,[a,b,undef],2024-02-29 10:34:56+00', flat(@{ $statement->fetchrow_arrayref }));
};
check 'DBI: tables, columns, keys, types', sub {
  same('public.app', flat($db->tables(undef, 'public', 'app', 'TABLE')));
  my $columns = $db->column_info(undef, 'public', 'app', '%')->fetchall_hashref('COLUMN_NAME');
  same('timestamp with time zone', $columns->{p_timestamp}{TYPE_NAME});
  same('NO', $columns->{p_timestamp}{IS_NULLABLE});
  same('', flat($db->primary_key(undef, 'public', 'app')));
  $db->statistics_info(undef, 'public', 'app', 0, 0);
  $db->foreign_key_info(undef, 'public', 'app', undef, undef, undef);
  $db->type_info_all;
};
check 'a transaction with an error and a savepoint', sub {
  $db->begin_work;
  $db->pg_savepoint('before');
  eval { $db->do('select * from nope') };
  same('42P01', $db->state);
  same(4, $db->ping);
  $db->pg_rollback_to('before');
  same(60, ($db->selectrow_array('select count(*) from app'))[0]);
  $db->commit;
};
check 'writes are refused', sub {
  eval { $db->do('insert into app (level) values (?)', undef, 'x') };
  same('25006', $db->state);
};
check 'a cursor', sub {
  $db->begin_work;
  $db->do('declare c cursor for select n from generate_series(1, 250) as g(n)');
  my @counts = map { scalar @{ $db->selectall_arrayref('fetch 100 from c') } } 1 .. 3;
  same('100,100,50', flat(@counts));
  $db->commit;
};
check 'COPY out', sub {
  $db->do('copy (select id, level from app where id < 2 order by id) to stdout');
  my ($text, $line) = ('', '');
  $text .= $line while $db->pg_getcopydata(\$line) >= 0;
  same("0\tinfo\n1\twarn\n", $text);
};
check 'a query that is cancelled', sub {
  my $statement = $db->prepare($endless, { pg_async => PG_ASYNC });
  $statement->execute;
  $db->pg_cancel;
  same(1, ($db->selectrow_array('select 1'))[0]);
};
check 'a wrong password', sub {
  eval { DBI->connect($source, $ENV{PGUSER}, 'wrong', \%options) };
  die 'no error' unless $@ =~ /password authentication failed/;
};
exit($failed ? 1 : 0);
