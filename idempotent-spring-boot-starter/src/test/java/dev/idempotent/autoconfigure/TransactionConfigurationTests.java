package dev.idempotent.autoconfigure;

import java.util.UUID;

import dev.idempotent.transaction.ObservedTransaction;
import dev.idempotent.transaction.OwnTransactions;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link TransactionConfiguration}.
 */
class TransactionConfigurationTests {

	@ParameterizedTest
	@ValueSource(strings = { "idempotent.enabled", "idempotent.outbox.enabled", "idempotent.saga.enabled" })
	void observesTransactionsWithoutOneOfThePromises(String promise) {
		application(promise).run((context) -> {
			assertThat(context).hasNotFailed();
			new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
				.executeWithoutResult((status) -> assertThat(ObservedTransaction.known()).isNotNull());
		});
	}

	/**
	 * It is created before most others are registered.
	 */
	@Test
	void observesTheManagerThatABeanPostProcessorNeeds() {
		application("idempotent.saga.enabled").withUserConfiguration(NeedsManager.class).run((context) -> {
			assertThat(context).hasNotFailed();
			new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
				.executeWithoutResult((status) -> assertThat(ObservedTransaction.known()).isNotNull());
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "idempotent.enabled", "idempotent.outbox.enabled", "idempotent.saga.enabled" })
	void endsItsOwnTransactionsWithTheApplication(String promise) {
		OwnTransactions[] own = new OwnTransactions[1];
		TransactionTemplate[] template = new TransactionTemplate[1];
		application(promise).run((context) -> {
			own[0] = context.getBean(OwnTransactions.class);
			template[0] = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
			template[0].executeWithoutResult((status) -> own[0].run((connection) -> true));
			context.close();
			assertThatExceptionOfType(DataAccessResourceFailureException.class)
				.isThrownBy(() -> template[0].executeWithoutResult((status) -> own[0].run((connection) -> true)));
		});
	}

	private static ApplicationContextRunner application(String promise) {
		return new ApplicationContextRunner().withUserConfiguration(Application.class)
			.withPropertyValues(WebApplication.WITH_OPERATIONS, promise + "=false", "idempotent.namespace=shop",
					"idempotent.store=jdbc",
					"spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1",
					"spring.autoconfigure.exclude=org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration",
					"spring.datasource.type=org.springframework.jdbc.datasource.SimpleDriverDataSource");
	}

	@Configuration(proxyBeanMethods = false)
	static class NeedsManager {

		@Bean
		static BeanPostProcessor auditor(ObjectProvider<PlatformTransactionManager> manager) {
			PlatformTransactionManager used = manager.getObject();
			return new BeanPostProcessor() {

				@Override
				public String toString() {
					return "Uses " + used;
				}

			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

}
