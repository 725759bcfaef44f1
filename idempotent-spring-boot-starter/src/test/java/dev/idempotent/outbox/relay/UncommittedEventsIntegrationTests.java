package dev.idempotent.outbox.relay;

import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.core.Ordered;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Transactions that Spring reports as committed and that PostgreSQL has rolled back: a
 * statement fails after the events were inserted, its exception is caught, and the driver
 * does not report that the database answered the commit with a rollback.
 */
class UncommittedEventsIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@SuppressWarnings("NullAway.Init")
	private Shop shop;

	@BeforeEach
	void open() {
		this.shop = Shop.open(postgres.properties(), Shop.SELDOM, "idempotent.outbox.relay.workers=1");
		this.shop.database().sql("create table if not exists relay_once (id integer primary key)").update();
		this.shop.database().sql("insert into relay_once values (1) on conflict do nothing").update();
	}

	@AfterEach
	void close() {
		this.shop.close();
	}

	@Test
	void areNotPublished() {
		failAfterInsert(() -> this.shop.appendWithin("ghost"));
		this.shop.append("real");
		await().untilAsserted(() -> assertThat(this.shop.broker().types()).contains("real"));
		assertThat(this.shop.broker().types()).containsExactly("real");
		await().untilAsserted(() -> assertThat(this.shop.pending()).isZero());
	}

	@Test
	void areNotPublishedInTheOrderOfTheirKeys() {
		failAfterInsert(() -> this.shop.appendOrderedWithin("key", "ghost"));
		this.shop.appendOrdered("key", "real");
		await().untilAsserted(() -> assertThat(this.shop.broker().types()).contains("real"));
		assertThat(this.shop.broker().types()).containsExactly("real");
		await().untilAsserted(() -> assertThat(this.shop.ordered()).isZero());
	}

	private void failAfterInsert(Runnable work) {
		this.shop.inTransaction((status) -> {
			work.run();
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public int getOrder() {
					return Ordered.LOWEST_PRECEDENCE;
				}

				@Override
				public void beforeCommit(boolean readOnly) {
					assertThatExceptionOfType(DuplicateKeyException.class)
						.isThrownBy(() -> UncommittedEventsIntegrationTests.this.shop.database()
							.sql("insert into relay_once values (1)")
							.update());
				}

			});
		});
	}

}
