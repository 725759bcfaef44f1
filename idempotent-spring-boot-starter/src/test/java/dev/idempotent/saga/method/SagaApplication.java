package dev.idempotent.saga.method;

import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration;
import dev.idempotent.autoconfigure.idempotency.ImportMethods;
import dev.idempotent.autoconfigure.saga.ImportSagas;
import dev.idempotent.autoconfigure.startup.ImportStartupCheck;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;

/**
 * Applications without web, with a database in memory.
 */
public final class SagaApplication {

	private SagaApplication() {
	}

	/**
	 * Such an application.
	 * @param beans its own beans
	 */
	public static ApplicationContextRunner with(Class<?>... beans) {
		return new ApplicationContextRunner()
			.withPropertyValues("idempotent.namespace=shop", "spring.datasource.generate-unique-name=true")
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, DataSourceAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class,
					TransactionManagerCustomizationAutoConfiguration.class, IdempotencyAutoConfiguration.class,
					ImportMethods.CLASS, ImportSagas.CLASS, ImportStartupCheck.CLASS))
			.withUserConfiguration(beans);
	}

}
