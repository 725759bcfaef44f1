package dev.idempotent.outbox.relay;

import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BiConsumer;

import javax.sql.DataSource;

import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.jdbc.Database;
import dev.idempotent.outbox.OutboxSamples;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.jdbc.EventTable;
import dev.idempotent.outbox.jdbc.ClaimedEvent;
import dev.idempotent.outbox.jdbc.LaneQuery;
import dev.idempotent.outbox.jdbc.NewEvent;
import dev.idempotent.outbox.jdbc.EventTable.Row;
import dev.idempotent.testing.LostCommitReplies;
import dev.idempotent.transaction.OwnTransactions;
import org.h2.Driver;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What is stored again after the reply of the database was lost, when another instance
 * may have claimed the row.
 */
class BatchSettlementTests {

	private static final String TOPIC = "orders";

	private static final Duration LEASE = Duration.ofMinutes(1);

	private final DataSource database = new SimpleDriverDataSource(new Driver(),
			"jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");

	private final EventTable other = new EventTable(new OwnTransactions(this.database), "outbox_",
			PayloadEncryption.NONE);

	private boolean lost;

	private final EventTable table = new EventTable(
			new OwnTransactions(new LostCommitReplies(this.database, this::loseOnce)), "outbox_",
			PayloadEncryption.NONE);

	private ClaimedEvent claim;

	@BeforeEach
	void claimAnEvent() {
		new ResourceDatabasePopulator(new ClassPathResource(Database.script("h2", "outbox"))).execute(this.database);
		Row row = new TransactionTemplate(new DataSourceTransactionManager(this.database))
			.execute((status) -> this.other.append(List.of(new NewEvent(
					OutboxSamples.event(TOPIC, "key", "type", "{}".getBytes(StandardCharsets.UTF_8), Map.of()), true,
					null)))
				.get(0));
		this.claim = claim(this.other, row.lane());
	}

	@Test
	void doesNotEndTheLeaseOfAnotherInstanceByAReleaseWithoutAnAnswer() {
		assertKeepsTheLeaseOfAnother(BatchSettlement::release);
	}

	@Test
	void doesNotEndTheLeaseOfAnotherInstanceByAnAttemptThatDoesNotCount() {
		assertKeepsTheLeaseOfAnother((settlement, claimed) -> settlement.addLeftToOthers(claimed, "Unreadable"));
	}

	@Test
	void deletesADeliveredEventAfterALostAnswer() {
		BatchSettlement settlement = settlement();
		settlement.add(this.claim, new Outcome.Delivered());
		loseTheAnswer(settlement);
		assertThat(settlement.store().delivered()).isOne();
		assertThat(this.other.heads(List.of(new LaneQuery(this.claim.lane(), 0)), 1)).isEmpty();
	}

	private void assertKeepsTheLeaseOfAnother(BiConsumer<BatchSettlement, ClaimedEvent> outcome) {
		BatchSettlement settlement = settlement();
		outcome.accept(settlement, this.claim);
		loseTheAnswer(settlement);
		ClaimedEvent again = claim(this.other, this.claim.lane());
		assertThat(again.event().attempts()).isEqualTo(this.claim.event().attempts());
		settlement.store();
		assertThat(this.other.claim(this.other.heads(List.of(new LaneQuery(this.claim.lane(), 0)), 1), LEASE, 5))
			.isEmpty();
		assertThat(this.other.delete(List.of(again))).isOne();
	}

	private void loseTheAnswer(BatchSettlement settlement) {
		this.lost = false;
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(settlement::store);
		assertThat(this.lost).isTrue();
	}

	private boolean loseOnce() {
		boolean first = !this.lost;
		this.lost = true;
		return first;
	}

	private static ClaimedEvent claim(EventTable table, long lane) {
		List<ClaimedEvent> claims = table.claim(table.heads(List.of(new LaneQuery(lane, 0)), 1), LEASE, 5);
		assertThat(claims).hasSize(1);
		return claims.get(0);
	}

	private BatchSettlement settlement() {
		RelaySettings unused = (RelaySettings) Proxy.newProxyInstance(RelaySettings.class.getClassLoader(),
				new Class<?>[] { RelaySettings.class }, (proxy, method, arguments) -> {
					throw new UnsupportedOperationException(method.getName());
				});
		return new BatchSettlement(new BatchSettlement.Rules(this.table, (topic) -> false, unused,
				(event, reason) -> Optional.empty(), 5, LEASE));
	}

}
