package dev.idempotent.outbox.crash;

import java.nio.file.Path;

import javax.sql.DataSource;

import dev.idempotent.autoconfigure.outbox.ImportOutbox;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.jdbc.EventTable;
import dev.idempotent.testing.LostCommitReplies;
import dev.idempotent.testing.RestartedApplication;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.kafka.autoconfigure.KafkaAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * An instance that appends events and delivers them, with as little else as possible.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration({ PropertyPlaceholderAutoConfiguration.class, DataSourceAutoConfiguration.class,
		DataSourceTransactionManagerAutoConfiguration.class, TransactionAutoConfiguration.class,
		TransactionManagerCustomizationAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
		JdbcClientAutoConfiguration.class, JacksonAutoConfiguration.class, DataRedisAutoConfiguration.class,
		KafkaAutoConfiguration.class })
@ImportOutbox
class OrderApplication {

	private static final int LOST = 3;

	@Bean
	static Storm storm(Environment environment) {
		return new Storm(Path.of(environment.getRequiredProperty("crash.end")),
				environment.getRequiredProperty("crash.seed", Long.class) + ProcessHandle.current().pid());
	}

	@Bean
	static BeanPostProcessor faults(Storm storm, Environment environment, BeanFactory beans) {
		PlantedFault fault = environment.getRequiredProperty("crash.fault", PlantedFault.class);
		return new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String beanName) {
				if (bean instanceof OutboxPublisher publisher) {
					return new FaultyPublisher(publisher, storm);
				}
				if (bean instanceof EventTable && fault != PlantedFault.NONE) {
					return fault.plant(beans.getBean(DataSource.class), "outbox_",
							beans.getBean(PayloadEncryption.class));
				}
				return (bean instanceof DataSource database) ? new LostCommitReplies(database, () -> loses(storm))
						: bean;
			}

		};
	}

	/**
	 * Of the application and of the relay.
	 */
	private static boolean loses(Storm storm) {
		boolean lost = storm.strikes(LOST);
		if (lost) {
			RestartedApplication.report("fault lost commit reply");
		}
		return lost;
	}

	@Bean
	ApplicationRunner writers(Storm storm, PlatformTransactionManager transactions, JdbcClient database, Outbox outbox,
			@Value("${crash.topic}") String topic, @Value("${crash.fault}") PlantedFault fault) {
		return (arguments) -> new Writers(storm, transactions, database, outbox, topic,
				fault == PlantedFault.APPEND_BEFORE_LOCK)
			.start();
	}

}
