package dev.idempotent.idempotency.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.Samples;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The number of statements of each method of {@link IdempotencyRecords} without
 * conflicts.
 */
abstract class AbstractIdempotencyRecordsStatementsTests {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final Fingerprint REQUEST = Samples.fingerprint("request");

	private final IdempotencyKey key = Samples.key();

	private final StatementCount count = new StatementCount();

	private IdempotencyRecords records;

	private Connection connection;

	abstract RecordTable table();

	/**
	 * The number of additional statements of a write with a lock timeout.
	 */
	abstract int statementsForALimit();

	@BeforeEach
	void connect() throws SQLException {
		this.records = new IdempotencyRecords(table().name());
		this.connection = table().dataSource().getConnection();
	}

	@AfterEach
	void disconnect() throws SQLException {
		this.connection.close();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', useHeadersInDisplayName = true, textBlock = """
			verb     | row               | outcome    | statements
			complete | own pending       | true       | 1
			complete | own expired       | true       | 1
			complete | absent            | true       | 2
			complete | own completed     | true       | 4
			complete | others' pending   | false      | 3
			complete | others' completed | false      | 3
			complete | others' expired   | true       | 4
			release  | own pending       | true       | 1
			release  | own expired       | true       | 1
			release  | absent            | true       | 2
			release  | others' expired   | true       | 2
			release  | others' pending   | false      | 2
			release  | own completed     | false      | 2
			renew    | own pending       | true       | 1
			renew    | absent            | false      | 2
			renew    | others' pending   | false      | 2
			renew    | own completed     | false      | 2
			renew    | own expired       | false      | 2
			forget   | own completed     | true       | 1
			forget   | absent            | true       | 2
			forget   | others' expired   | true       | 2
			forget   | own pending       | false      | 2
			forget   | others' completed | false      | 2
			find     | absent            | null       | 1
			find     | others' pending   | Pending    | 1
			find     | others' completed | Completed  | 1
			find     | others' expired   | null       | 1
			""")
	void countsTheStatementsOfAVerb(String verb, String row, String outcome, int statements) throws SQLException {
		prepare(row);
		assertThat(ask(verb)).hasToString(outcome);
		assertThat(this.count.take()).isEqualTo(statements + (verb.equals("forget") ? statementsForALimit() : 0));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', useHeadersInDisplayName = true, textBlock = """
			row               | outcome    | statements | that write
			absent            | Acquired   | 1          | 1
			others' pending   | Pending    | 2          | 1
			others' completed | Completed  | 2          | 1
			another request's | Mismatched | 2          | 1
			own completed     | Completed  | 2          | 1
			own pending       | Acquired   | 3          | 2
			own expired       | Acquired   | 3          | 2
			others' expired   | Acquired   | 3          | 2
			""")
	void countsTheStatementsOfAClaim(String row, String outcome, int statements, int writes) throws SQLException {
		prepare(row);
		assertThat(claim(null)).hasToString(outcome);
		assertThat(this.count.take()).isEqualTo(statements);

		table().forget(this.key);
		prepare(row);
		assertThat(claim(Duration.ofSeconds(1))).hasToString(outcome);
		assertThat(this.count.take()).isEqualTo(statements + statementsForALimit() * writes);
	}

	private void prepare(String row) {
		String token = row.startsWith("own") ? "owner" : "other";
		Fingerprint fingerprint = row.startsWith("another") ? Samples.fingerprint("another") : REQUEST;
		if (row.endsWith("completed")) {
			this.records.complete(this.connection, this.key, fingerprint, token, Samples.response("response"), MINUTE);
		}
		else if (!row.equals("absent")) {
			this.records.claim(this.connection, this.key, fingerprint, token, null, MINUTE, null);
		}
		if (row.endsWith("expired")) {
			table().template()
				.update("update " + table().name() + " set expires_at = timestamp '2001-01-01 00:00:00' "
						+ "where key_digest = ?", this.key.digest());
		}
	}

	private String ask(String verb) {
		Connection counted = this.count.of(this.connection);
		return switch (verb) {
			case "complete" -> String.valueOf(
					this.records.complete(counted, this.key, REQUEST, "owner", Samples.response("response"), MINUTE));
			case "release" -> String.valueOf(this.records.release(counted, this.key, "owner"));
			case "renew" -> String.valueOf(this.records.renew(counted, this.key, "owner", MINUTE));
			case "forget" -> String.valueOf(this.records.forget(counted, this.key, "owner", Duration.ofSeconds(1)));
			case "find" -> name(this.records.find(counted, this.key, REQUEST));
			default -> throw new IllegalArgumentException(verb);
		};
	}

	private String claim(@Nullable Duration lockTimeout) {
		return name(this.records.claim(this.count.of(this.connection), this.key, REQUEST, "owner", null, MINUTE,
				lockTimeout));
	}

	private static String name(@Nullable Claim claim) {
		return (claim != null) ? claim.getClass().getSimpleName() : "null";
	}

}
