import java.math.BigDecimal;
import java.sql.*;
import java.time.*;
import java.util.*;

/** Works with pgjdbc, as its users and the tools that are built on it do; prints a line for each check. */
public class Jdbc {
  static final String url = "jdbc:postgresql://127.0.0.1:" + System.getenv("PGPORT") + "/millrace";
  static int failed = 0;

  interface Work {
    void run() throws Exception;
  }

  static void check(String name, Work work) {
    try {
      work.run();
      System.out.println("ok " + name);
    } catch (Throwable error) {
      failed += 1;
      String text = error.toString() + " at " + Arrays.toString(error.getStackTrace());
      System.out.println("failed " + name + ": " + text.substring(0, Math.min(900, text.length())).replace('\n', ' '));
    }
  }

  static void same(Object expected, Object actual) {
    if (!Objects.deepEquals(expected, actual))
      throw new AssertionError("expected " + expected + ", got " + actual);
  }

  static Connection connect(String... options) throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("user", System.getenv("PGUSER"));
    properties.setProperty("password", System.getenv("PGPASSWORD"));
    for (int i = 0; i < options.length; i += 2) properties.setProperty(options[i], options[i + 1]);
    return DriverManager.getConnection(url, properties);
  }

  /** One column of all rows. */
  static List<String> read(ResultSet rows, String column) throws SQLException {
    List<String> cells = new ArrayList<>();
    while (rows.next()) cells.add(rows.getString(column));
    rows.close();
    return cells;
  }

  static List<String> row(ResultSet rows) throws SQLException {
    List<String> cells = new ArrayList<>();
    for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) cells.add(rows.getString(i));
    return cells;
  }

  static String stateOf(Work work) throws Exception {
    try {
      work.run();
      return "none";
    } catch (SQLException error) {
      return error.getSQLState();
    }
  }

  static final String types =
      "select true as b, 7::int2 as i2, 70000::int4 as i4, 9007199254740993::int8 as i8, 0.1::float8 as f8, "
          + "12345678.90::numeric(10,2) as n, 'ü €'::text as t, date '2024-02-29' as d, "
          + "timestamp '2024-02-29 12:34:56.123456' as ts, timestamptz '2024-02-29 12:34:56.123456+02' as tz, "
          + "'{\"a\": 1}'::jsonb as j, array[1, null, 3] as ai, array['a', 'b c'] as at, null::text as nil";

  static void requireTypes(ResultSet r) throws SQLException {
    same(true, r.next());
    same(true, r.getBoolean("b"));
    same((short) 7, r.getShort("i2"));
    same(70000, r.getInt("i4"));
    same(9007199254740993L, r.getLong("i8"));
    same(0.1f, r.getFloat("f8"));
    same(0.1, r.getDouble("f8"));
    same(new BigDecimal("12345678.90"), r.getBigDecimal("n"));
    same("ü €", r.getString("t"));
    same(LocalDate.of(2024, 2, 29), r.getObject("d", LocalDate.class));
    same(LocalDateTime.of(2024, 2, 29, 12, 34, 56, 123456000), r.getObject("ts", LocalDateTime.class));
    same(
        Instant.parse("2024-02-29T10:34:56.123456Z"),
        r.getObject("tz", OffsetDateTime.class).toInstant());
    same(Instant.parse("2024-02-29T10:34:56.123456Z"), r.getTimestamp("tz").toInstant());
    same("{\"a\": 1}", r.getString("j"));
    same(new Integer[] {1, null, 3}, r.getArray("ai").getArray());
    same(new String[] {"a", "b c"}, r.getArray("at").getArray());
    same(null, r.getString("nil"));
    same(true, r.wasNull());
    same(false, r.next());
  }

  public static void main(String[] arguments) throws Exception {
    try (Connection c = connect()) {
      metadata(c);
      statements(c);
    }
    sessions();
    System.exit(failed == 0 ? 0 : 1);
  }

  static void metadata(Connection c) throws SQLException {
    DatabaseMetaData m = c.getMetaData();
    check("metadata: product", () -> {
      same("PostgreSQL", m.getDatabaseProductName());
      same(15, m.getDatabaseMajorVersion());
      same("admin", m.getUserName());
      same(63, m.getMaxColumnNameLength());
      same(List.of("millrace"), read(m.getCatalogs(), "TABLE_CAT"));
      if (!read(m.getSchemas(), "TABLE_SCHEM").contains("public")) throw new AssertionError("no public");
      if (!read(m.getTableTypes(), "TABLE_TYPE").contains("TABLE")) throw new AssertionError("no TABLE");
      if (!m.getSQLKeywords().contains("analyze")) throw new AssertionError(m.getSQLKeywords());
    });
    check("metadata: getTables", () -> {
      same(List.of("app"), read(m.getTables(null, "public", "app", null), "TABLE_NAME"));
      same(List.of("TABLE"), read(m.getTables("millrace", null, "app", new String[] {"TABLE", "VIEW"}), "TABLE_TYPE"));
      same(List.of(), read(m.getTables(null, "public", "nope%", null), "TABLE_NAME"));
      if (!read(m.getTables(null, null, "%", null), "TABLE_NAME").contains("pg_class"))
        throw new AssertionError("no pg_class");
      same(List.of(), read(m.getTables(null, null, "app", new String[] {"VIEW", "SEQUENCE"}), "TABLE_NAME"));
    });
    check("metadata: getColumns", () -> {
      Map<String, String> columns = new TreeMap<>();
      try (ResultSet r = m.getColumns(null, "public", "app", null)) {
        while (r.next())
          columns.put(r.getString("COLUMN_NAME"), r.getString("TYPE_NAME") + " " + r.getInt("DATA_TYPE") + " " + r.getString("IS_NULLABLE"));
      }
      same("timestamptz " + Types.TIMESTAMP + " NO", columns.get("p_timestamp"));
      same("float8 " + Types.DOUBLE + " YES", columns.get("ms"));
      same("text " + Types.VARCHAR + " YES", columns.get("level"));
      same("bool " + Types.BIT + " YES", columns.get("ok"));
      same(List.of("level"), read(m.getColumns(null, null, "app", "lev%"), "COLUMN_NAME"));
    });
    check("metadata: keys, indexes, privileges", () -> {
      same(List.of(), read(m.getPrimaryKeys(null, "public", "app"), "COLUMN_NAME"));
      same(List.of(), read(m.getImportedKeys(null, "public", "app"), "FKCOLUMN_NAME"));
      same(List.of(), read(m.getExportedKeys(null, "public", "app"), "FKCOLUMN_NAME"));
      same(List.of(), read(m.getCrossReference(null, null, "app", null, null, "requests"), "FKCOLUMN_NAME"));
      same(List.of(), read(m.getIndexInfo(null, "public", "app", false, true), "INDEX_NAME"));
      same(List.of("ctid"), read(m.getVersionColumns(null, "public", "app"), "COLUMN_NAME"));
      m.getBestRowIdentifier(null, "public", "app", DatabaseMetaData.bestRowSession, true).close();
      m.getTablePrivileges(null, "public", "app").close();
      m.getColumnPrivileges(null, "public", "app", "%").close();
    });
    check("metadata: types and functions", () -> {
      if (!read(m.getTypeInfo(), "TYPE_NAME").containsAll(List.of("int8", "text", "timestamptz", "jsonb")))
        throw new AssertionError("types are missing");
      read(m.getUDTs(null, null, "%", null), "TYPE_NAME");
      read(m.getFunctions(null, null, "%"), "FUNCTION_NAME");
      read(m.getFunctionColumns(null, null, "%", "%"), "COLUMN_NAME");
      read(m.getProcedures(null, null, "%"), "PROCEDURE_NAME");
      read(m.getProcedureColumns(null, null, "%", "%"), "COLUMN_NAME");
      read(m.getClientInfoProperties(), "NAME");
      same(Connection.TRANSACTION_READ_COMMITTED, m.getDefaultTransactionIsolation());
    });
    check("metadata of a result", () -> {
      try (Statement s = c.createStatement();
          ResultSet r = s.executeQuery("select level, ms as took, p_timestamp from app limit 1")) {
        ResultSetMetaData of = r.getMetaData();
        same("level text", of.getColumnName(1) + " " + of.getColumnTypeName(1));
        same("took float8", of.getColumnLabel(2) + " " + of.getColumnTypeName(2));
        same("java.sql.Timestamp", of.getColumnClassName(3));
        same(false, of.isAutoIncrement(1));
        same(ResultSetMetaData.columnNullableUnknown, of.isNullable(2));
      }
    });
    check("metadata of parameters", () -> {
      try (PreparedStatement s = c.prepareStatement("select level from app where ms > ? and level = ? limit ?")) {
        ParameterMetaData of = s.getParameterMetaData();
        same("float8 text int8", of.getParameterTypeName(1) + " " + of.getParameterTypeName(2) + " " + of.getParameterTypeName(3));
        same("level", s.getMetaData().getColumnName(1));
      }
    });
  }

  static void statements(Connection c) throws SQLException {
    check("types, in text", () -> {
      try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(types)) {
        requireTypes(r);
      }
    });
    check("types, after the switch to a server prepare and binary", () -> {
      try (PreparedStatement s = c.prepareStatement(types)) {
        for (int i = 0; i < 8; i++) try (ResultSet r = s.executeQuery()) { requireTypes(r); }
        same(true, s.unwrap(org.postgresql.PGStatement.class).isUseServerPrepare());
      }
    });
    check("types, in binary from the first execution", () -> {
      try (Connection binary = connect("prepareThreshold", "-1");
          PreparedStatement s = binary.prepareStatement(types)) {
        for (int i = 0; i < 3; i++) try (ResultSet r = s.executeQuery()) { requireTypes(r); }
      }
    });
    check("parameters of every type", () -> {
      String sql = "select ?::bool, ?::int2, ?::int4, ?::int8, ?::float8, ?::numeric, ?::text, ?::date, ?::timestamp, ?::timestamptz, ?::int4[], ?::text[]";
      try (PreparedStatement s = c.prepareStatement(sql)) {
        for (int i = 0; i < 7; i++) {
          s.setBoolean(1, true);
          s.setShort(2, (short) -3);
          s.setInt(3, 70000);
          s.setLong(4, Long.MAX_VALUE);
          s.setDouble(5, 0.1);
          s.setBigDecimal(6, new BigDecimal("1.50"));
          s.setString(7, "it's \\ ü");
          s.setObject(8, LocalDate.of(2024, 2, 29));
          s.setObject(9, LocalDateTime.of(2024, 2, 29, 12, 34, 56, 7000));
          s.setObject(10, OffsetDateTime.parse("2024-02-29T12:34:56.000007+02:00"));
          s.setArray(11, c.createArrayOf("int4", new Integer[] {1, null}));
          s.setArray(12, c.createArrayOf("text", new String[] {"a,b", null, "\"q\""}));
          try (ResultSet r = s.executeQuery()) {
            same(true, r.next());
            same(true, r.getBoolean(1));
            same((short) -3, r.getShort(2));
            same(70000, r.getInt(3));
            same(Long.MAX_VALUE, r.getLong(4));
            same(0.1, r.getDouble(5));
            same(new BigDecimal("1.50"), r.getBigDecimal(6));
            same("it's \\ ü", r.getString(7));
            same(LocalDate.of(2024, 2, 29), r.getObject(8, LocalDate.class));
            same(LocalDateTime.of(2024, 2, 29, 12, 34, 56, 7000), r.getObject(9, LocalDateTime.class));
            same(Instant.parse("2024-02-29T10:34:56.000007Z"), r.getObject(10, OffsetDateTime.class).toInstant());
            same(new Integer[] {1, null}, r.getArray(11).getArray());
            same(new String[] {"a,b", null, "\"q\""}, r.getArray(12).getArray());
          }
        }
      }
    });
    check("NULL parameters, and those of another type", () -> {
      try (PreparedStatement s = c.prepareStatement("select ?, ?, ? is null")) {
        s.setFloat(1, 0.5f);
        s.setShort(2, (short) 3);
        s.setNull(3, Types.VARCHAR);
        try (ResultSet r = s.executeQuery()) { same(true, r.next()); same(0.5f, r.getFloat(1)); same(3, r.getInt(2)); same(true, r.getBoolean(3)); }
      }
      try (PreparedStatement s = c.prepareStatement("select count(*) from app where (?::text is null or level = ?) and ms > ?")) {
        for (int i = 0; i < 7; i++) {
          s.setNull(1, Types.VARCHAR);
          s.setNull(2, Types.VARCHAR);
          s.setInt(3, 10);
          try (ResultSet r = s.executeQuery()) { same(true, r.next()); same(45, r.getInt(1)); }
          s.setString(1, "x");
          s.setString(2, "warn");
          s.setDouble(3, 10);
          try (ResultSet r = s.executeQuery()) { same(true, r.next()); same(11, r.getInt(1)); }
        }
      }
    });
    check("a time as parameter", () -> {
      try (PreparedStatement s = c.prepareStatement("select count(*) from app where p_timestamp > ? and p_timestamp <= ?")) {
        for (int i = 0; i < 7; i++) {
          s.setTimestamp(1, Timestamp.from(Instant.now().minusSeconds(3600)));
          s.setObject(2, OffsetDateTime.now().plusHours(1));
          try (ResultSet r = s.executeQuery()) { same(true, r.next()); same(60, r.getInt(1)); }
        }
      }
    });
    check("fetch size: a portal over several round trips", () -> {
      c.setAutoCommit(false);
      try (Statement s = c.createStatement()) {
        s.setFetchSize(100);
        long sum = 0;
        try (ResultSet r = s.executeQuery("select n, 'x' || n as t from generate_series(1, 12345) as g(n)")) {
          while (r.next()) {
            sum += r.getLong(1);
            same("x" + r.getLong(1), r.getString(2));
          }
        }
        same(12345L * 12346 / 2, sum);
        try (ResultSet r = s.executeQuery("select n from generate_series(1, 1000000) as g(n)")) {
          same(true, r.next()); // and closes it with most rows not read
        }
        try (ResultSet r = s.executeQuery("select count(*) from app")) { same(true, r.next()); same(60, r.getInt(1)); }
      } finally {
        c.rollback();
        c.setAutoCommit(true);
      }
    });
    check("setMaxRows", () -> {
      try (Statement s = c.createStatement()) {
        s.setMaxRows(7);
        same(7, read(s.executeQuery("select id from app order by id"), "id").size());
      }
    });
    check("several statements in one", () -> {
      try (Statement s = c.createStatement()) {
        same(true, s.execute("select 1; select 'b', 2; set application_name = 'x'"));
        same(List.of("1"), read(s.getResultSet(), "?column?"));
        same(true, s.getMoreResults());
        same(true, s.getResultSet().next());
        same(false, s.getMoreResults());
        same(0, s.getUpdateCount());
      }
    });
    check("writes are refused, in batches too", () -> {
      same("25006", stateOf(() -> c.createStatement().executeUpdate("insert into app (level) values ('x')")));
      same("25006", stateOf(() -> c.createStatement().execute("create table t (x int)")));
      try (PreparedStatement s = c.prepareStatement("insert into app (level) values (?)")) {
        for (String value : List.of("a", "b", "c")) {
          s.setString(1, value);
          s.addBatch();
        }
        same("25006", stateOf(s::executeBatch));
      }
      same("25006", stateOf(() -> new org.postgresql.copy.CopyManager(c.unwrap(org.postgresql.core.BaseConnection.class))
          .copyIn("copy app from stdin", new java.io.StringReader("x"))));
    });
    check("COPY", () -> {
      java.io.StringWriter text = new java.io.StringWriter();
      long rows = new org.postgresql.copy.CopyManager(c.unwrap(org.postgresql.core.BaseConnection.class))
          .copyOut("copy (select id, level from app where id < 3 order by id) to stdout with (format csv, header)", text);
      same(3L, rows);
      same("id,level\n0,info\n1,warn\n2,error\n", text.toString());
    });
    check("errors: code and position", () -> {
      try {
        c.createStatement().executeQuery("select nope from app");
        throw new AssertionError("no error");
      } catch (org.postgresql.util.PSQLException error) {
        same("42703", error.getSQLState());
        same(8, error.getServerErrorMessage().getPosition());
      }
      same("42P01", stateOf(() -> c.createStatement().executeQuery("select * from nope")));
      same("42601", stateOf(() -> c.createStatement().executeQuery("selec 1")));
      same("22012", stateOf(() -> c.createStatement().executeQuery("select 1 / (id - id)::int from app")));
    });
    check("transactions: an error, savepoints, isolation, read-only", () -> {
      c.setAutoCommit(false);
      try (Statement s = c.createStatement()) {
        s.executeQuery("select 1").close();
        Savepoint before = c.setSavepoint("before");
        same("42P01", stateOf(() -> s.executeQuery("select * from nope")));
        same("25P02", stateOf(() -> s.executeQuery("select 1")));
        c.rollback(before);
        s.executeQuery("select 2").close();
        c.releaseSavepoint(before);
        c.commit();
        c.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        same(Connection.TRANSACTION_REPEATABLE_READ, c.getTransactionIsolation());
        c.commit();
      } finally {
        c.rollback();
        c.setAutoCommit(true);
      }
      c.setReadOnly(true);
      same(true, c.isReadOnly());
      c.createStatement().executeQuery("select 1").close();
      c.setReadOnly(false);
      same(true, c.isValid(5));
    });
    check("scrolling through a result that is here, and escapes of JDBC", () -> {
      try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY);
          ResultSet r = s.executeQuery("select id from app order by id")) {
        same(true, r.last());
        same(60, r.getRow());
        same(true, r.absolute(2));
        same(1.0, r.getDouble(1));
        same(true, r.previous());
      }
      try (Statement s = c.createStatement();
          ResultSet r = s.executeQuery("select {fn ucase('a')}, {ts '2024-01-02 03:04:05'}, {d '2024-01-02'}")) {
        same(true, r.next());
        same(List.of("A", "2024-01-02 03:04:05", "2024-01-02"), row(r));
      }
    });
  }

  static void sessions() {
    check("cancel", () -> {
      try (Connection c = connect(); Statement s = c.createStatement()) {
        new Timer(true).schedule(new TimerTask() {
          @Override
          public void run() {
            try {
              s.cancel();
            } catch (SQLException error) {
              throw new IllegalStateException(error);
            }
          }
        }, 300);
        same("57014", stateOf(() -> s.executeQuery("select sum(a.n * b.n) from generate_series(1, 1000000) a(n), generate_series(1, 1000000) b(n)")));
        try (ResultSet r = s.executeQuery("select 1")) { same(true, r.next()); }
      }
    });
    check("a query timeout", () -> {
      try (Connection c = connect(); Statement s = c.createStatement()) {
        s.setQueryTimeout(1);
        same("57014", stateOf(() -> s.executeQuery("select sum(a.n * b.n) from generate_series(1, 1000000) a(n), generate_series(1, 1000000) b(n)")));
      }
    });
    check("times follow the zone of the client, in text and in binary", () -> {
      TimeZone before = TimeZone.getDefault();
      try {
        TimeZone.setDefault(TimeZone.getTimeZone("America/St_Johns"));
        for (String threshold : List.of("0", "-1")) {
          try (Connection c = connect("prepareThreshold", threshold);
              PreparedStatement s = c.prepareStatement("select ?::timestamptz as tz, current_setting('TimeZone') as zone")) {
            Timestamp time = Timestamp.valueOf("2024-07-01 12:00:00.5");
            s.setTimestamp(1, time);
            try (ResultSet r = s.executeQuery()) {
              same(true, r.next());
              same(time, r.getTimestamp("tz"));
              same("America/St_Johns", r.getString("zone"));
            }
          }
        }
      } finally {
        TimeZone.setDefault(before);
      }
    });
    for (String mode : List.of("simple", "extended", "extendedForPrepared", "extendedCacheEverything")) {
      check("preferQueryMode=" + mode, () -> {
        try (Connection c = connect("preferQueryMode", mode);
            PreparedStatement s = c.prepareStatement("select id, level, ? as t from app where ms > ? order by id")) {
          for (int i = 0; i < 7; i++) {
            s.setString(1, "it's");
            s.setDouble(2, 80);
            try (ResultSet r = s.executeQuery()) {
              same(true, r.next());
              same("it's", r.getString("t"));
              same("debug", r.getString("level"));
            }
          }
        }
      });
    }
    check("a wrong password, and another database", () -> {
      same("28P01", stateOf(() -> DriverManager.getConnection(url, "admin", "wrong").close()));
      String other = url.replace("/millrace", "/nowhere");
      same("3D000", stateOf(() -> DriverManager.getConnection(other, System.getenv("PGUSER"), System.getenv("PGPASSWORD")).close()));
    });
    check("several hosts, a schema, a name of the application", () -> {
      try (Connection c = connect("ApplicationName", "reports", "currentSchema", "public", "targetServerType", "any", "readOnly", "true")) {
        same("reports", c.getClientInfo("ApplicationName"));
        same("public", c.getSchema());
        same("millrace", c.getCatalog());
        c.setClientInfo("ApplicationName", "other");
        try (ResultSet r = c.createStatement().executeQuery("show application_name")) { same(true, r.next()); same("other", r.getString(1)); }
      }
    });
  }
}
