package dev.idempotent.outbox.jdbc;

import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

import dev.idempotent.idempotency.Race;
import dev.idempotent.outbox.OutboxStore.LeasedEvent;
import dev.idempotent.outbox.OutboxStoreSteps;
import dev.idempotent.outbox.OutboxStorm;
import dev.idempotent.outbox.OutboxStormRider;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.testing.RealMariaDb;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.dao.DataIntegrityViolationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * All promises for MariaDB with one driver.
 */
abstract class MySqlOutboxContract extends JdbcOutboxStoreContract {

	@RegisterExtension
	static final RealMariaDb mariaDb = new RealMariaDb();

	private static final Map<String, DataSource> pools = new ConcurrentHashMap<>();

	/**
	 * The URL of the database, with a place for the port.
	 */
	abstract String url();

	@Override
	StoreOnTables create(String name) {
		DataSource pool = pools.computeIfAbsent(url(), mariaDb::connect);
		return StoreOnTables.create(pool, "mysql", name + "_of_" + url().substring("jdbc:".length(), url().indexOf("://")) + "_");
	}

	/**
	 * InnoDB locks each row that it reads, at least until it is found not to match.
	 */
	@Override
	boolean claimsMeet() {
		return true;
	}

	@Nested
	class MySqlTests extends OutboxStoreSteps {

		@Override
		protected StoreOnTables tested() {
			return tables("contract");
		}

		@Test
		void beginsALeaseAtTheAppendEvenInAnOldTransaction() {
			assertThat(store().leasesAtAppend()).isTrue();
			inTransaction(() -> {
				tested().template().update("set @begin = utc_timestamp(6)");
				tested().template().queryForList("select sleep(0.3)");
				long row = store().append(List.of(event("one")), lease()).get(0).sequence();
				return assertThat(tested().template()
					.queryForObject("select timestampdiff(microsecond, @begin, available_at) from "
							+ tested().tables().event() + " where id = ?", Long.class, row))
					.isGreaterThanOrEqualTo(600_300_000L);
			});
			assertThat(claim()).isEmpty();
		}

		@Test
		void claimsAnEventWithAnInvalidIdAsUndeliverable() {
			append("before");
			tested().template()
				.update("insert into " + tested().tables().event()
						+ " (event_id, topic, type, payload) values ('order 17', ?, 'foreign', '')",
						this.publisher + ":orders");
			append("behind");
			List<LeasedEvent> held = claim();
			assertThat(types(held)).containsExactly("before", "foreign", "behind");
			assertThat(held).extracting(LeasedEvent::undeliverable)
				.containsExactly(null, new Outcome.Reject("Its event_id is not a UUID"), null);
			assertThat(deadLetter(List.of(held.get(1)))).isEqualTo(1);
			assertThat(tested().template()
				.queryForList("select event_id from " + tested().tables().dead() + " where topic = ?", String.class,
						this.publisher + ":orders"))
				.containsExactly("order 17");
		}

		@Test
		void rejectsAnEventThatIsTooLargeForTheServer() {
			SerializedEvent small = event("small", new byte[1], Map.of());
			SerializedEvent large = event("large", new byte[9_000_000], Map.of());
			assertThatExceptionOfType(DataIntegrityViolationException.class)
				.isThrownBy(() -> inTransaction(() -> store().append(List.of(small, large), null)))
				.withMessageContainingAll("'large'", "9000000 bytes", "max_allowed_packet");
			assertThat(claim()).isEmpty();
		}

		@Test
		void acceptsIdsOfOtherProgramsInUpperCase() {
			UUID id = UUID.randomUUID();
			tested().template()
				.update("insert into " + tested().tables().event()
						+ " (event_id, topic, type, payload) values (upper(?), ?, 'foreign', '')", id.toString(),
						this.publisher + ":orders");
			assertThat(claim()).extracting((held) -> held.event().id()).containsExactly(id);
		}

		/**
		 * The isolation of the callers' transactions; the store has its own.
		 */
		@Test
		void avoidsDeadlocksAtRepeatableRead() throws InterruptedException {
			assertThat(tested().template().queryForObject("select @@transaction_isolation", String.class))
				.isEqualTo("REPEATABLE-READ");
			OutboxStorm storm = new OutboxStorm(tables("storm"));
			Race.of(8, (rider) -> {
				new OutboxStormRider(storm, rider).ride(300);
				return rider;
			});
			assertThat(storm.failures()).isEmpty();
			storm.endsWithEachEventInExactlyOneTable();
		}

	}

}
