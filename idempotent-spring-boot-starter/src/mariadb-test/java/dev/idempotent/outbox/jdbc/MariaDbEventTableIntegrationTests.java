package dev.idempotent.outbox.jdbc;

import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

import com.zaxxer.hikari.HikariDataSource;
import dev.idempotent.outbox.OutboxSamples;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.testing.RealMariaDb;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataIntegrityViolationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link EventTable} on MariaDB, with each driver.
 */
@ParameterizedClass(name = "{0}")
@ValueSource(strings = { RealMariaDb.URL, RealMariaDb.CONNECTOR_J_URL })
class MariaDbEventTableIntegrationTests extends AbstractEventTableTests {

	@RegisterExtension
	static final RealMariaDb mariaDb = new RealMariaDb();

	private static final Map<String, Fixture> fixtures = new ConcurrentHashMap<>();

	/**
	 * Of the database, with a place for the port.
	 */
	@Parameter
	@SuppressWarnings("NullAway.Init")
	String url;

	@Override
	Fixture fixture() {
		return fixtures.computeIfAbsent(this.url, (url) -> Fixture.create(mariaDb.connect(url), "mysql",
				"table_of_" + url.substring("jdbc:".length(), url.indexOf("://")) + "_"));
	}

	@Test
	void claimsAnEventWithAnInvalidIdAsUndeliverable() {
		template().update(
				"insert into " + events() + " (event_id, topic, type, payload) values ('order 17', ?, 'foreign', '')",
				TOPIC);
		ClaimedEvent claim = claim().get(0);
		assertThat(claim.undeliverable()).isEqualTo(new Outcome.Reject("Its event_id is not a UUID"));
		assertThat(table().moveToDead(failures(List.of(claim), "invalid"))).isOne();
		assertThat(template().queryForObject("select event_id from " + fixture().tables().dead(), String.class))
			.isEqualTo("order 17");
	}

	@Test
	void rejectsAnEventThatIsTooLargeForTheServer() {
		NewEvent large = new NewEvent(OutboxSamples.event(TOPIC, null, "large", new byte[9_000_000], Map.of()), false,
				null);
		assertThatExceptionOfType(DataIntegrityViolationException.class)
			.isThrownBy(() -> append(unordered("small"), large))
			.withMessageContainingAll("'large'", "9000000 bytes", "max_allowed_packet");
		assertThat(heads()).isEmpty();
	}

	@Test
	void acceptsIdsOfOtherProgramsInUpperCase() {
		UUID id = UUID.randomUUID();
		template().update(
				"insert into " + events() + " (event_id, topic, type, payload) values (upper(?), ?, 'foreign', '')",
				id.toString(), TOPIC);
		assertThat(claim()).extracting((claim) -> claim.event().id()).containsExactly(id);
	}

	/**
	 * Drivers do not count the rows of such batches.
	 */
	@Test
	void claimsEachRowOnceWithBulkStatements() {
		try (HikariDataSource pool = mariaDb.connect(this.url + "?useBulkStmts=true&rewriteBatchedStatements=true")) {
			EventTable bulk = fixture().through(pool).table();
			append("one", "two", "three", "four", "five");
			List<QueuedEvent> heads = heads();
			claim(heads.subList(1, 3));
			List<ClaimedEvent> claims = bulk.claim(heads, LEASE, 10);
			assertThat(claims).extracting((claim) -> claim.event().sequence())
				.containsExactly(heads.get(0).id(), heads.get(3).id(), heads.get(4).id());
			assertThat(bulk.delete(claims)).isEqualTo(3);
			assertThat(heads()).hasSize(2);
		}
	}

}
