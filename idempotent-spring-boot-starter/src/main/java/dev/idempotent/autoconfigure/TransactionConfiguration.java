package dev.idempotent.autoconfigure;

import javax.sql.DataSource;

import dev.idempotent.transaction.OwnTransactions;
import dev.idempotent.transaction.TransactionGuard;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.ConfigurableTransactionManager;

/**
 * The transactions of the application and the transactions of the library, which keys,
 * events, sagas and guarded transitions share.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ DataSource.class, ConnectionHolder.class })
public class TransactionConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static WatchingBeanPostProcessor idempotentTransactionWatch() {
		return new WatchingBeanPostProcessor();
	}

	@Bean
	@Lazy
	@ConditionalOnSingleCandidate(DataSource.class)
	OwnTransactions idempotentOwnTransactions(DataSource dataSource) {
		return new OwnTransactions(dataSource);
	}

	/**
	 * One of the first, because others may need a transaction manager.
	 */
	static final class WatchingBeanPostProcessor implements BeanPostProcessor, PriorityOrdered {

		@Override
		public int getOrder() {
			return Ordered.LOWEST_PRECEDENCE;
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			if (bean instanceof ConfigurableTransactionManager manager) {
				TransactionGuard.watch(manager);
			}
			return bean;
		}

	}

}
