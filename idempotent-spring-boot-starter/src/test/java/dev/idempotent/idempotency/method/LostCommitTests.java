package dev.idempotent.idempotency.method;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import javax.sql.DataSource;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyPendingException;
import dev.idempotent.idempotency.Idempotent;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Methods in transactions whose commit reports a failure, and has taken place or not.
 */
class LostCommitTests {

	@Test
	void isReplayedIfItTookPlace() {
		run((context) -> {
			context.getBean(LossyManager.class).loseReply.set(true);
			assertLost(() -> context.getBean(Orders.class).inTransaction("k"));
			assertThat(context.getBean(Orders.class).inTransaction("k")).isEqualTo(1);
			assertThat(context.getBean(Effects.class).committed()).containsExactly("k");
		});
	}

	@Test
	void isRunAgainIfItDidNot() {
		run((context) -> {
			context.getBean(LossyManager.class).loseCommit.set(true);
			assertLost(() -> context.getBean(Orders.class).inTransaction("k"));
			assertThat(context.getBean(Orders.class).inTransaction("k")).isEqualTo(2);
			assertThat(context.getBean(Effects.class).committed()).containsExactly("k");
		});
	}

	@Test
	void leavesTheKeyToItsLeaseIfTheCallersCommitIsLost() {
		run((context) -> {
			Orders orders = context.getBean(Orders.class);
			context.getBean(LossyManager.class).loseReply.set(true);
			assertLost(() -> context.getBean(TransactionTemplate.class)
				.executeWithoutResult((status) -> orders.underLease("k")));
			assertThatExceptionOfType(IdempotencyPendingException.class).isThrownBy(() -> orders.underLease("k"));
		});
	}

	private static void assertLost(Runnable call) {
		assertThatExceptionOfType(TransactionSystemException.class).isThrownBy(call::run);
	}

	private static void run(Consumer<AssertableApplicationContext> test) {
		MethodApplication.with(Lossy.class, Orders.class).run(test::accept);
	}

	@Configuration(proxyBeanMethods = false)
	static class Lossy {

		@Bean
		LossyManager transactionManager(DataSource dataSource) {
			return new LossyManager(dataSource);
		}

	}

	static class LossyManager extends DataSourceTransactionManager {

		private final AtomicBoolean loseReply = new AtomicBoolean();

		private final AtomicBoolean loseCommit = new AtomicBoolean();

		LossyManager(DataSource dataSource) {
			super(dataSource);
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			if (this.loseCommit.getAndSet(false)) {
				doRollback(status);
				throw new TransactionSystemException("The connection broke before the commit");
			}
			super.doCommit(status);
			if (this.loseReply.getAndSet(false)) {
				throw new TransactionSystemException("The connection broke after the commit");
			}
		}

	}

	static class Orders {

		private final Effects effects;

		Orders(Effects effects) {
			this.effects = effects;
		}

		@Transactional
		@Idempotent(key = "#id", guarantee = Guarantee.TRANSACTION, name = "orders.in-transaction")
		public int inTransaction(String id) {
			return this.effects.add(id);
		}

		@Idempotent(key = "#id", name = "orders.under-lease")
		public int underLease(String id) {
			return this.effects.add(id);
		}

	}

}
