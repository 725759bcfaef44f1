package dev.idempotent.outbox.crash;

import dev.idempotent.outbox.Outbox;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * An instance that appends events and handles them.
 */
@Configuration(proxyBeanMethods = false)
@Import(OrderApplication.class)
class HandlerApplication {

	@Bean
	CrashedHandlers handlers(Storm storm, JdbcClient database, Outbox outbox, StringRedisTemplate service,
			PlatformTransactionManager transactions) {
		return new CrashedHandlers(storm, database, outbox, service, transactions);
	}

}
