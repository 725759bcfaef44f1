package dev.idempotent.outbox.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.outbox.OutboxSamples;
import dev.idempotent.outbox.jdbc.EventTable.Claim;
import dev.idempotent.outbox.jdbc.EventTable.Head;
import dev.idempotent.outbox.jdbc.EventTable.NewEvent;
import dev.idempotent.outbox.jdbc.EventTable.Row;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.transaction.TransactionException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link EventTable} on PostgreSQL.
 */
class PostgresEventTableIntegrationTests extends EventTableContract {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	private static Fixture fixture;

	@BeforeAll
	static void connect() {
		fixture = Fixture.create(postgres.connect(), "postgresql", "table_outbox_");
	}

	@Override
	Fixture fixture() {
		return fixture;
	}

	/**
	 * Large rows are read after they were claimed.
	 */
	@Test
	void claimsNoLargeRowOfAnotherThatHasTheIdOfItsOwn() {
		append(unordered("one"),
				new NewEvent(OutboxSamples.event(TOPIC, "large", "two", new byte[1_000_000], Map.of()), true, null));
		template().update("update " + events() + " set id = 1");
		List<Head> read = heads();
		claim(read.subList(0, 1));
		assertThat(claim(read)).extracting(Claim::lane).containsExactly(read.get(1).lane());
	}

	/**
	 * So that it need not be read again.
	 */
	@Test
	void findsAnEventWithoutAKeyAsItIsClaimed() {
		append(new NewEvent(event(null, "alone"), false, null));
		Head found = alone();
		assertThat(found).usingRecursiveComparison().ignoringFields("epoch").isEqualTo(heads().get(0));
		Claim claim = claim(List.of(found)).get(0);
		endLeases();
		assertThat(alone()).extracting(Head::attempts, Head::settled).containsExactly(1, false);
		table().postpone(failures(List.of(claim), "broken"));
		endLeases();
		assertThat(claim(List.of(alone()))).extracting((again) -> again.event().attempts()).containsExactly(2);
	}

	@Test
	void findsNoEventWithAKeyAsIfItWereAlone() {
		append(ordered("key", "ordered"));
		assertThat(table().scan(Long.MIN_VALUE, 10).due()).extracting(Row::alone).containsOnlyNulls();
	}

	private Head alone() {
		return Objects.requireNonNull(table().scan(Long.MIN_VALUE, 10).due().get(0).alone());
	}

	/**
	 * As that of a host that dies without a word.
	 */
	@Test
	@Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
	void freesAnEventIfTheTransactionOfItsHandlerFallsSilent() {
		append("one");
		Claim claim = claim().get(0);
		assertThatExceptionOfType(TransactionException.class).isThrownBy(() -> inTransaction(() -> {
			assertThat(table().lockInTransaction(claim, Duration.ofMillis(200))).isNotNull();
			// The lock would be waited for, and the row be gone after a commit.
			return CompletableFuture
				.supplyAsync(() -> template().queryForList("select id from " + events() + " for update"))
				.thenAccept((rows) -> assertThat(rows).hasSize(1))
				.join();
		}));
		assertThat(template().queryForList("select id from " + events())).hasSize(1);
	}

}
