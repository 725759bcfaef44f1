package dev.idempotent.outbox.relay;

import dev.idempotent.testing.LostCommitReplies;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.support.JdbcTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.awaitility.Awaitility.await;

/**
 * Commits whose reply from the database is lost.
 */
class UnknownCommitIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	/**
	 * One manager reports a rollback, the other an unknown outcome.
	 */
	@ParameterizedTest
	@ValueSource(classes = { JdbcTransactionManager.class, DataSourceTransactionManager.class })
	void deliversTheEvent(Class<?> manager) {
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

}
