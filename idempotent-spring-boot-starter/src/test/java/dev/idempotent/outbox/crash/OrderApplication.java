package dev.idempotent.outbox.crash;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import dev.idempotent.autoconfigure.outbox.ImportOutbox;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.outbox.Outcome;
import dev.idempotent.outbox.Outcome.Scope;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.jdbc.EventTable;
import dev.idempotent.testing.LostCommitReplies;
import dev.idempotent.testing.RestartedApplication;
import org.jspecify.annotations.Nullable;
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

	/**
	 * Publishes slowly, not at all, or without reporting it, and halts the JVM before,
	 * during and after publishing.
	 */
	private static final class FaultyPublisher implements OutboxPublisher {

		private static final List<String> HALTS = List.of("before-publishing", "while-publishing", "after-publishing");

		private final OutboxPublisher real;

		private final Storm storm;

		private final String halt;

		private final long haltAt;

		FaultyPublisher(OutboxPublisher real, Storm storm) {
			this.real = real;
			this.storm = storm;
			this.halt = HALTS.get(storm.random(HALTS.size()));
			this.haltAt = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(3_000 + storm.random(40_000));
		}

		@Override
		public String prefix() {
			return this.real.prefix();
		}

		@Override
		public boolean keepsOrder() {
			return this.real.keepsOrder();
		}

		@Override
		public List<Outcome> publish(List<SerializedEvent> events) {
			passHalt("before-publishing");
			if (this.storm.strikes(2)) {
				report("slow broker");
				this.storm.delay(500, 4_000);
			}
			if (this.storm.strikes(3)) {
				Scope scope = (this.storm.random(2) == 0) ? Scope.PUBLISHER : Scope.DESTINATION;
				report("unavailable " + scope);
				return Collections.nCopies(events.size(), new Outcome.Unavailable("Crash run", scope));
			}
			if (this.storm.strikes(3)) {
				report("exception");
				throw new IllegalStateException("Crash run");
			}
			List<Outcome> outcomes = publishSome(events);
			if (this.storm.strikes(3)) {
				report("exception after publishing");
				throw new IllegalStateException("Crash run");
			}
			passHalt("after-publishing");
			return outcomes;
		}

		private List<Outcome> publishSome(List<SerializedEvent> events) {
			Set<@Nullable String> unsent = new HashSet<>();
			List<SerializedEvent> sent = new ArrayList<>(events);
			sent.removeIf((event) -> stopsAt(event, unsent, 10));
			if (isHaltDue("while-publishing")) {
				sent = sent.subList(0, sent.size() / 2);
			}
			List<Outcome> answers = sent.isEmpty() ? List.of() : this.real.publish(sent);
			passHalt("while-publishing");
			Set<@Nullable String> unconfirmed = new HashSet<>();
			List<Outcome> outcomes = new ArrayList<>();
			for (SerializedEvent event : events) {
				int index = sent.indexOf(event);
				if (index >= 0 && !stopsAt(event, unconfirmed, 5)) {
					outcomes.add(answers.get(index));
				}
				else {
					report((index < 0) ? "refused event" : "lost confirmation");
					outcomes.add(new Outcome.Retry("Crash run", null));
				}
			}
			return outcomes;
		}

		/**
		 * Whether an event, or an earlier one of its key, is not confirmed.
		 */
		private boolean stopsAt(SerializedEvent event, Set<@Nullable String> stopped, int percent) {
			boolean struck = this.storm.strikes(percent);
			if (struck && keepsOrder() && event.key() != null) {
				stopped.add(event.key());
			}
			return struck || stopped.contains(event.key());
		}

		private static void report(String fault) {
			RestartedApplication.report("fault " + fault);
		}

		private boolean isHaltDue(String point) {
			return this.halt.equals(point) && System.nanoTime() - this.haltAt >= 0 && this.storm.lasts();
		}

		private void passHalt(String point) {
			if (isHaltDue(point)) {
				RestartedApplication.halt(point);
			}
		}

	}

}
