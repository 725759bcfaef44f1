package dev.idempotent.outbox.relay;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

import dev.idempotent.outbox.Outcome;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link RecoveryScan}.
 */
class RecoveryScanTests {

	private static final int FULL_PAUSE_MILLIS = 100;

	@Test
	void pausesWhileOneOfThePublishersHasNoSpace() {
		List<String> database = List.of("spring.datasource.url=jdbc:h2:mem:scan");
		try (Shop shop = Shop.open(database, Shop.OFTEN, CountedScans.class,
				"idempotent.outbox.relay.queue-capacity=1")) {
			CountDownLatch open = new CountDownLatch(1);
			shop.broker().answer((event) -> {
				RelayRules.awaitLatch(open);
				return new Outcome.Delivered();
			});
			shop.appendOrdered("a", "1");
			shop.appendOrdered("b", "1");
			shop.appendOrdered("c", "1");
			AtomicInteger scans = shop.bean(CountedScans.class).scans;
			// The first of them may have begun while there was space.
			await().until(() -> scans.get() > 10);
			long start = System.nanoTime();
			int before = scans.get();
			// Before each of them, the paused topics may be read.
			await().until(() -> scans.get() >= before + 20);
			assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start)).isGreaterThan(8 * FULL_PAUSE_MILLIS);
			open.countDown();
			await().untilAsserted(() -> assertThat(shop.ordered()).isZero());
		}
	}

	static final class CountedScans implements BeanPostProcessor {

		private final AtomicInteger scans = new AtomicInteger();

		@Bean
		static OtherPublisher otherPublisher() {
			return new OtherPublisher();
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof DataSource real) ? new DelegatingDataSource(real) {

				@Override
				public Connection getConnection() throws SQLException {
					if (Thread.currentThread().getName().equals("outbox-recovery")) {
						CountedScans.this.scans.incrementAndGet();
					}
					return super.getConnection();
				}

			} : bean;
		}

	}

}
