package dev.idempotent.autoconfigure.test;

import dev.idempotent.saga.Sagas;
import dev.idempotent.saga.jdbc.JdbcSagaAdministration;
import dev.idempotent.test.SagaWaits;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.jdbc.datasource.ConnectionHolder;

/**
 * Auto-configuration for {@link SagaWaits}.
 */
@AutoConfiguration(afterName = "dev.idempotent.autoconfigure.saga.SagaAutoConfiguration")
@ConditionalOnClass(ConnectionHolder.class)
@ConditionalOnBean(type = "dev.idempotent.saga.jdbc.JdbcSagaAdministration")
final class SagaWaitsAutoConfiguration {

	@Bean
	@Lazy
	SagaWaits sagaWaits(Sagas sagas, JdbcSagaAdministration administration) {
		return new SagaWaits(sagas, administration::expireWait);
	}

}
