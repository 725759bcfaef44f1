package dev.idempotent.outbox.relay;

import dev.idempotent.testing.LostCommitReplies;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.Ordered;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Commits of whose result Spring is wrong: PostgreSQL has rolled back, because the
 * exception of a statement after the insertion of the events was caught, and the driver
 * does not report how the database answered; or the reply is lost.
 */
class UnknownCommitsIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Test
	void doNotPublishTheEventsThatPostgresHasRolledBack() {
		try (Shop shop = open()) {
			failAfterInsert(shop, () -> shop.appendWithin("ghost"));
			shop.append("real");
			await().untilAsserted(() -> assertThat(shop.broker().types()).contains("real"));
			assertThat(shop.broker().types()).containsExactly("real");
			await().untilAsserted(() -> assertThat(shop.pending()).isZero());
		}
	}

	@Test
	void doNotPublishTheOrderedEventsThatPostgresHasRolledBack() {
		try (Shop shop = open()) {
			failAfterInsert(shop, () -> shop.appendOrderedWithin("key", "ghost"));
			shop.appendOrdered("key", "real");
			await().untilAsserted(() -> assertThat(shop.broker().types()).contains("real"));
			assertThat(shop.broker().types()).containsExactly("real");
			await().untilAsserted(() -> assertThat(shop.ordered()).isZero());
		}
	}

	/**
	 * One manager reports a rollback, the other an unknown outcome.
	 */
	@ParameterizedTest
	@ValueSource(classes = { JdbcTransactionManager.class, DataSourceTransactionManager.class })
	void publishTheEventIfTheirReplyIsLost(Class<?> manager) {
		try (Shop shop = Shop.open(postgres.properties(), Shop.OFTEN, LostCommitReplies.OfOneThread.class,
				"spring.dao.exceptiontranslation.enabled=" + (manager == JdbcTransactionManager.class))) {
			assertThat(shop.manager()).isExactlyInstanceOf(manager);
			LostCommitReplies.OfOneThread.expect();
			assertThatException().isThrownBy(() -> shop.append("order.created"));
			assertThat(LostCommitReplies.OfOneThread.isLost()).isTrue();
			await().untilAsserted(() -> assertThat(shop.broker().types()).containsExactly("order.created"));
			assertThat(shop.broker().published().get(0).attempts()).isOne();
			await().untilAsserted(() -> assertThat(shop.pending()).isZero());
		}
	}

	private static Shop open() {
		Shop shop = Shop.open(postgres.properties(), Shop.SELDOM, "idempotent.outbox.relay.workers=1");
		shop.database().sql("create table if not exists relay_once (id integer primary key)").update();
		shop.database().sql("insert into relay_once values (1) on conflict do nothing").update();
		return shop;
	}

	private static void failAfterInsert(Shop shop, Runnable work) {
		shop.inTransaction((status) -> {
			work.run();
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public int getOrder() {
					return Ordered.LOWEST_PRECEDENCE;
				}

				@Override
				public void beforeCommit(boolean readOnly) {
					assertThatExceptionOfType(DuplicateKeyException.class)
						.isThrownBy(() -> shop.database().sql("insert into relay_once values (1)").update());
				}

			});
		});
	}

}
