package dev.idempotent.outbox.jdbc;

import java.time.Duration;
import java.util.List;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.outbox.EventFilter;
import dev.idempotent.outbox.jdbc.EventTable.Failure;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.transaction.OwnTransactions;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.dao.IncorrectUpdateSemanticsDataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Moves of events from one table to another one, half of which PostgreSQL ignores without
 * an error: for a trigger, as here, a rule, or a policy of row level security.
 */
class PostgresMovedEventsIntegrationTests extends EventTableSteps {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static Fixture fixture;

	@BeforeAll
	static void connect() {
		fixture = Fixture.create(postgres.connect(), "postgresql", "moved_");
	}

	@Override
	Fixture fixture() {
		return fixture;
	}

	@AfterEach
	void ignoreNothing() {
		template().execute("drop function if exists moved_nothing cascade");
	}

	@Test
	void keepAnEventWhoseCopyIsNotInserted() {
		append("one");
		List<Failure> failures = failures(claim(), "refused");
		ignore("insert", "moved_dead");
		fails(() -> table().moveToDead(failures));
		assertThat(typesIn(events())).containsExactly("one");
	}

	@Test
	void keepNoCopyOfAnEventThatIsNotDeleted() {
		append("one");
		List<Failure> failures = failures(claim(), "refused");
		ignore("delete", "moved_event");
		fails(() -> table().moveToDead(failures));
		assertThat(typesIn("moved_dead")).isEmpty();
	}

	@Test
	void keepADelayedEventWhoseRowIsNotInserted() {
		appendDelayed();
		ignore("insert", "moved_event");
		fails(() -> table().moveDelayed(10));
		assertThat(typesIn("moved_delayed")).containsExactly("later");
	}

	@Test
	void deliverNoDelayedEventThatIsNotDeleted() {
		appendDelayed();
		ignore("delete", "moved_delayed");
		fails(() -> table().moveDelayed(10));
		assertThat(typesIn(events())).isEmpty();
	}

	@Test
	void keepADeadEventWhoseRowIsNotInserted() {
		append("one");
		table().moveToDead(failures(claim(), "refused"));
		ignore("insert", "moved_event");
		fails(() -> new JdbcDeadEvents(new OwnTransactions(fixture.dataSource()), "moved_").retry(EventFilter.ALL));
		assertThat(typesIn("moved_dead")).containsExactly("one");
	}

	@Test
	void keepASkippedEventWhoseCopyIsNotInserted() {
		append(ordered("key", "one"));
		table().block(failures(claim(), "refused"));
		ignore("insert", "moved_dead");
		fails(() -> new OutboxOperations(new OwnTransactions(fixture.dataSource()), "moved_", PayloadEncryption.NONE)
			.skipBlocked(EventFilter.ALL));
		assertThat(typesIn(events())).containsExactly("one");
	}

	private void appendDelayed() {
		append(delayed("later", Duration.ofHours(1)));
		template().update("update moved_delayed set due_at = now()");
	}

	private void ignore(String change, String table) {
		template().execute(
				"create function moved_nothing() returns trigger language plpgsql as " + "'begin return null; end'");
		template().execute("create trigger nothing before " + change + " on " + table
				+ " for each row execute function moved_nothing()");
	}

	private static void fails(ThrowingCallable move) {
		assertThatExceptionOfType(IncorrectUpdateSemanticsDataAccessException.class).isThrownBy(move)
			.withMessageContaining("affected 0 rows");
	}

}
