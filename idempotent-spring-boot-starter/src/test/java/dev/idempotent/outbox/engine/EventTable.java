package dev.idempotent.outbox.engine;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import dev.idempotent.outbox.SerializedEvent;
import org.jspecify.annotations.Nullable;

/**
 * The table of events and all statements on it. A row is its own lease: {@code attempts}
 * is the fencing token, and {@code due_at} the end of the lease or of a backoff. Rows are
 * always locked in the order of the primary key.
 */
class EventTable {

	private static final String DUE = "(e.due_at is null or e.due_at <= %s)";

	private static final int UNION = 50;

	private final Dialect dialect;

	EventTable(Dialect dialect) {
		this.dialect = dialect;
	}

	final Dialect dialect() {
		return this.dialect;
	}

	/**
	 * Prepares a connection of a worker or scan.
	 */
	void prepare(Connection connection) throws SQLException {
		connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
		connection.setAutoCommit(this.dialect == Dialect.POSTGRESQL);
		if (this.dialect == Dialect.POSTGRESQL) {
			try (Statement statement = connection.createStatement()) {
				// A plan that was made for the empty table must not read a full one. Lost
				// claims and deletes only repeat events.
				statement.execute("set enable_seqscan = off; set synchronous_commit = off");
			}
		}
	}

	/**
	 * Inserts events in the caller's transaction, right before its commit.
	 * @return their rows
	 */
	final List<Long> append(Connection connection, List<NewRow> events) throws SQLException {
		String sql = "insert into outbox_event (lane, event_id, topic, event_key, type, payload) values "
				+ String.join(", ", Collections.nCopies(events.size(), "(?, ?, ?, ?, ?, ?)"));
		List<Long> rows = new ArrayList<>();
		try (PreparedStatement statement = connection.prepareStatement(sql, new String[] { "id" })) {
			int index = 1;
			for (NewRow row : events) {
				SerializedEvent event = row.event();
				statement.setLong(index++, row.lane());
				statement.setObject(index++, this.dialect.uuid(event.id()));
				statement.setString(index++, event.topic());
				statement.setString(index++, event.key());
				statement.setString(index++, event.type());
				statement.setBytes(index++, event.payload());
			}
			statement.executeUpdate();
			try (ResultSet keys = statement.getGeneratedKeys()) {
				while (keys.next()) {
					rows.add(keys.getLong(1));
				}
			}
		}
		return rows;
	}

	/**
	 * The first rows of lanes, read in one snapshot.
	 * @param looks in the order of lanes
	 * @param limit how many rows of each lane
	 * @return in the order of the primary key
	 */
	List<Head> heads(Connection connection, List<Look> looks, int limit) throws SQLException {
		List<Head> heads = (this.dialect == Dialect.POSTGRESQL) ? headsByArrays(connection, looks, limit)
				: headsByUnion(connection, looks, limit);
		heads.sort(Head.ORDER);
		return heads;
	}

	private List<Head> headsByArrays(Connection connection, List<Look> looks, int limit) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement("""
				select h.* from unnest(?::bigint[], ?::bigint[]) w(lane, above) cross join lateral (
					select e.lane, e.id, e.attempts, e.topic, e.event_key, octet_length(e.payload), %s
					from outbox_event e where e.lane = w.lane and e.id > w.above order by e.lane, e.id limit ?) h"""
			.formatted(due()))) {
			statement.setArray(1, longs(connection, looks.stream().map(Look::lane).toArray()));
			statement.setArray(2, longs(connection, looks.stream().map(Look::above).toArray()));
			statement.setInt(3, limit);
			return readHeads(statement);
		}
	}

	private List<Head> headsByUnion(Connection connection, List<Look> looks, int limit) throws SQLException {
		List<Head> heads = new ArrayList<>();
		for (int from = 0; from < looks.size(); from += UNION) {
			List<Look> some = looks.subList(from, Math.min(from + UNION, looks.size()));
			String one = "(select e.lane, e.id, e.attempts, e.topic, e.event_key, octet_length(e.payload), "
					+ "case when " + due() + " then true else false end from outbox_event e "
					+ "where e.lane = ? and e.id > ? order by e.lane, e.id limit " + limit + ")";
			try (PreparedStatement statement = connection
				.prepareStatement(String.join(" union all ", Collections.nCopies(some.size(), one)))) {
				int index = 1;
				for (Look look : some) {
					statement.setLong(index++, look.lane());
					statement.setLong(index++, look.above());
				}
				heads.addAll(readHeads(statement));
			}
		}
		connection.commit();
		return heads;
	}

	private static List<Head> readHeads(PreparedStatement statement) throws SQLException {
		List<Head> heads = new ArrayList<>();
		try (ResultSet rows = statement.executeQuery()) {
			while (rows.next()) {
				heads.add(new Head(rows.getLong(1), rows.getLong(2), rows.getInt(3), rows.getString(4),
						rows.getString(5), rows.getInt(6), rows.getBoolean(7)));
			}
		}
		return heads;
	}

	/**
	 * Claims rows that are as they were read, and still due: counts an attempt, and
	 * leases them. Commits.
	 * @param heads in the order of the primary key
	 * @return the claimed rows in the same order; the others are gone, or belong to
	 * another claim
	 */
	List<Claim> claim(Connection connection, List<Head> heads, Duration lease) throws SQLException {
		List<Claim> claims = (this.dialect == Dialect.POSTGRESQL) ? claimByArrays(connection, heads, lease)
				: claimOneByOne(connection, heads, lease);
		claims.sort(Comparator.comparing(Claim::lane).thenComparing(Claim::id));
		return claims;
	}

	private List<Claim> claimByArrays(Connection connection, List<Head> heads, Duration lease) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement("""
				update outbox_event o set attempts = o.attempts + 1, due_at = %s
				where o.ctid = any (array(select l.ctid from unnest(?::bigint[], ?::bigint[], ?::int[])
					h(lane, id, attempts) cross join lateral (select e.ctid from outbox_event e
						where e.lane = h.lane and e.id = h.id and e.attempts = h.attempts and %s
						for update skip locked) l))
				returning o.lane, o.id, o.attempts, o.event_id, o.topic, o.event_key, o.type, o.payload"""
			.formatted(this.dialect.in(lease), due()))) {
			statement.setArray(1, longs(connection, heads.stream().map(Head::lane).toArray()));
			statement.setArray(2, longs(connection, heads.stream().map(Head::id).toArray()));
			statement.setArray(3, connection.createArrayOf("integer", heads.stream().map(Head::attempts).toArray()));
			return readClaims(statement);
		}
	}

	private List<Claim> claimOneByOne(Connection connection, List<Head> heads, Duration lease) throws SQLException {
		List<Head> claimed = new ArrayList<>();
		try (PreparedStatement statement = connection.prepareStatement("""
				update outbox_event e set attempts = attempts + 1, due_at = %s
				where lane = ? and id = ? and attempts = ? and %s""".formatted(this.dialect.in(lease), due()))) {
			for (Head head : heads) {
				statement.setLong(1, head.lane());
				statement.setLong(2, head.id());
				statement.setInt(3, head.attempts());
				if (statement.executeUpdate() == 1) {
					claimed.add(head);
				}
			}
		}
		List<Claim> claims = new ArrayList<>();
		for (int from = 0; from < claimed.size(); from += UNION) {
			List<Head> some = claimed.subList(from, Math.min(from + UNION, claimed.size()));
			try (PreparedStatement statement = connection.prepareStatement(String.join(" union all ",
					Collections.nCopies(some.size(),
							"(select lane, id, attempts, event_id, topic, event_key, type, payload from outbox_event "
									+ "where lane = ? and id = ?)")))) {
				int index = 1;
				for (Head head : some) {
					statement.setLong(index++, head.lane());
					statement.setLong(index++, head.id());
				}
				claims.addAll(readClaims(statement));
			}
		}
		connection.commit();
		return claims;
	}

	private static List<Claim> readClaims(PreparedStatement statement) throws SQLException {
		List<Claim> claims = new ArrayList<>();
		try (ResultSet rows = statement.executeQuery()) {
			while (rows.next()) {
				claims.add(new Claim(rows.getLong(1),
						new SerializedEvent(UUID.fromString(rows.getString(4)), rows.getLong(2), rows.getString(5),
								rows.getString(6), rows.getString(7), rows.getBytes(8), Map.of(), rows.getInt(3))));
			}
		}
		return claims;
	}

	/**
	 * Deletes rows whose publication was confirmed. Commits.
	 * @return how many were still claimed by these attempts
	 */
	int delete(Connection connection, List<Claim> claims) throws SQLException {
		return settle(connection, claims, "delete from outbox_event");
	}

	/**
	 * Makes rows wait for their next attempt. Commits.
	 */
	int retry(Connection connection, List<Claim> claims, Duration delay) throws SQLException {
		return settle(connection, claims, "update outbox_event set due_at = " + this.dialect.in(delay));
	}

	/**
	 * Ends the leases of rows that were not sent, or whose attempt does not count.
	 * Commits.
	 */
	int release(Connection connection, List<Claim> claims) throws SQLException {
		return settle(connection, claims, "update outbox_event set attempts = attempts - 1, due_at = null");
	}

	private int settle(Connection connection, List<Claim> claims, String change) throws SQLException {
		if (claims.isEmpty()) {
			return 0;
		}
		int settled = (this.dialect == Dialect.POSTGRESQL) ? settleByArrays(connection, claims, change)
				: settleOneByOne(connection, claims, change);
		if (!connection.getAutoCommit()) {
			connection.commit();
		}
		return settled;
	}

	private int settleByArrays(Connection connection, List<Claim> claims, String change) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(change + " " + """
				where ctid = any (array(select l.ctid from unnest(?::bigint[], ?::bigint[], ?::int[])
					c(lane, id, attempts) cross join lateral (select e.ctid from outbox_event e
						where e.lane = c.lane and e.id = c.id and %s for update) l))"""
			.formatted(token("c.attempts")))) {
			statement.setArray(1, longs(connection, claims.stream().map(Claim::lane).toArray()));
			statement.setArray(2, longs(connection, claims.stream().map(Claim::id).toArray()));
			statement.setArray(3, connection.createArrayOf("integer", claims.stream().map(Claim::token).toArray()));
			return statement.executeUpdate();
		}
	}

	private int settleOneByOne(Connection connection, List<Claim> claims, String change) throws SQLException {
		try (PreparedStatement statement = connection
			.prepareStatement(change + " where lane = ? and id = ? and attempts = ?")) {
			for (Claim claim : claims) {
				statement.setLong(1, claim.lane());
				statement.setLong(2, claim.id());
				statement.setInt(3, claim.token());
				statement.addBatch();
			}
			return Arrays.stream(statement.executeBatch()).map((count) -> Math.abs(count)).sum();
		}
	}

	/**
	 * The condition that a row is still claimed by the attempt that settles it.
	 */
	String token(String mine) {
		return "e.attempts = " + mine;
	}

	/**
	 * Reads the next rows of the table.
	 * @param above the lane behind which to begin
	 * @return the lanes whose first row is due, and where to go on
	 */
	Chunk scan(Connection connection, long above, int limit) throws SQLException {
		List<DueLane> due = new ArrayList<>();
		DueLane last = null;
		boolean end = true;
		try (PreparedStatement statement = connection.prepareStatement("""
				select lane, id, topic, due, position_in_lane, total from (select c.*,
						row_number() over (partition by lane order by id) as position_in_lane,
						row_number() over (order by lane, id) as position, count(*) over () as total from (
					select e.lane, e.id, e.topic, case when %s then 1 else 0 end as due
					from outbox_event e where e.lane > ? order by e.lane, e.id limit ?) c) x
				where due = 1 and position_in_lane = 1 or position = total order by position""".formatted(due()))) {
			statement.setLong(1, above);
			statement.setInt(2, limit);
			try (ResultSet rows = statement.executeQuery()) {
				while (rows.next()) {
					last = new DueLane(rows.getLong(1), rows.getLong(2), rows.getString(3));
					if (rows.getInt(4) == 1 && rows.getLong(5) == 1) {
						due.add(last);
					}
					end = rows.getLong(6) < limit;
				}
			}
		}
		if (!connection.getAutoCommit()) {
			connection.commit();
		}
		return new Chunk(due, last, end);
	}

	private String due() {
		return DUE.formatted(this.dialect.now);
	}

	private static java.sql.Array longs(Connection connection, Object[] values) throws SQLException {
		return connection.createArrayOf("bigint", values);
	}

	/**
	 * What databases disagree about.
	 */
	enum Dialect {

		POSTGRESQL("clock_timestamp()", "clock_timestamp() + interval '1 millisecond' * %d", """
				create table if not exists outbox_event (
					lane bigint not null default floor(random() * 1099511627776),
					id bigint generated always as identity,
					event_id uuid not null,
					topic varchar(255) not null,
					event_key varchar(255),
					type varchar(255) not null,
					payload bytea not null,
					attempts integer not null default 0,
					due_at timestamp(6) with time zone,
					created_at timestamp(6) with time zone not null default clock_timestamp(),
					primary key (lane, id)
				) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)"""),

		MARIADB("utc_timestamp(6)", "utc_timestamp(6) + interval %d000 microsecond", """
				create table if not exists outbox_event (
					lane bigint not null default (floor(rand() * 1099511627776)),
					id bigint not null auto_increment,
					event_id char(36) character set ascii not null,
					topic varchar(255) not null,
					event_key varchar(255),
					type varchar(255) not null,
					payload longblob not null,
					attempts integer not null default 0,
					due_at datetime(6),
					created_at datetime(6) not null default (utc_timestamp(6)),
					primary key (lane, id),
					unique key (id)
				) engine = InnoDB default character set utf8mb4 collate utf8mb4_bin"""),

		H2("current_timestamp(6)", "dateadd(millisecond, %d, current_timestamp(6))", """
				create table if not exists outbox_event (
					lane bigint not null default cast(floor(rand() * 1099511627776) as bigint),
					id bigint generated always as identity,
					event_id uuid not null,
					topic varchar(255) not null,
					event_key varchar(255),
					type varchar(255) not null,
					payload binary large object not null,
					attempts integer not null default 0,
					due_at timestamp(6) with time zone,
					created_at timestamp(6) with time zone not null default current_timestamp(6),
					primary key (lane, id)
				)""");

		private final String now;

		private final String later;

		private final String schema;

		Dialect(String now, String later, String schema) {
			this.now = now;
			this.later = later;
			this.schema = schema;
		}

		String schema() {
			return this.schema;
		}

		String in(Duration delay) {
			return this.later.formatted(delay.toMillis());
		}

		Object uuid(UUID id) {
			return (this == MARIADB) ? id.toString() : id;
		}

	}

	/**
	 * An event to be inserted.
	 */
	record NewRow(long lane, SerializedEvent event) {

		static NewRow of(String topic, @Nullable String key, UUID id, String payload) {
			return in(Lanes.of(topic, key), topic, key, id, payload);
		}

		static NewRow in(long lane, String topic, @Nullable String key, UUID id, String payload) {
			return new NewRow(lane, new SerializedEvent(id, 0, topic, key, "test",
					payload.getBytes(StandardCharsets.UTF_8), Map.of(), 0));
		}

	}

	/**
	 * Where to look for the first row of a lane.
	 *
	 * @param above the row behind which to begin, or 0
	 */
	record Look(long lane, long above) {
	}

	/**
	 * A row as it was read.
	 */
	record Head(long lane, long id, int attempts, String topic, @Nullable String key, int bytes, boolean due) {

		static final Comparator<Head> ORDER = Comparator.comparing(Head::lane).thenComparing(Head::id);

	}

	/**
	 * A row that this process has claimed.
	 */
	record Claim(long lane, SerializedEvent event) {

		long id() {
			return this.event.sequence();
		}

		int token() {
			return this.event.attempts();
		}

	}

	/**
	 * A lane, its first row, and the topic of that row.
	 */
	record DueLane(long lane, long id, String topic) {
	}

	/**
	 * A part of the table.
	 *
	 * @param due the lanes whose first row is due
	 * @param last the lane at the end, or {@code null} if there was none
	 * @param end whether it was the last part
	 */
	record Chunk(List<DueLane> due, @Nullable DueLane last, boolean end) {
	}

}
