package dev.idempotent.autoconfigure.outbox;

import java.lang.reflect.Type;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ThreadFactory;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.aop.LateListeners;
import dev.idempotent.autoconfigure.outbox.OutboxProperties.Handlers;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.handler.HandlerEnvironment;
import dev.idempotent.outbox.handler.OutboxHandlers;
import dev.idempotent.outbox.jdbc.OutboxTableCheck;
import dev.idempotent.stream.PayloadConverter;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.thread.Threading;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.task.VirtualThreadTaskExecutor;
import org.springframework.util.function.SingletonSupplier;
import tools.jackson.databind.json.JsonMapper;

/**
 * Finds the {@code @OutboxHandler} methods and checks them at startup.
 */
@Configuration(proxyBeanMethods = false)
class OutboxHandlerConfiguration {

	private static final String PREFIX = OutboxTopics.HANDLERS + ":";

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LateListeners outboxLateHandlers(ConfigurableListableBeanFactory beans) {
		return new LateListeners(beans, OutboxHandler.class);
	}

	@Bean
	OutboxHandlers outboxHandlers(ConfigurableListableBeanFactory beans, OutboxProperties properties,
			ObjectProvider<PayloadConverter> converters, ObjectProvider<JsonMapper> mappers, Environment environment) {
		SingletonSupplier<PayloadConverter> converter = SingletonSupplier
			.of(() -> converters.getIfAvailable(() -> json(mappers.getIfUnique(JsonMapper::shared))));
		ThreadFactory threads = Threading.VIRTUAL.isActive(environment)
				? new VirtualThreadTaskExecutor("outbox-handler-").getVirtualThreadFactory() : Thread::new;
		return new OutboxHandlers(beans, new HandlerEnvironment() {

			@Override
			public int concurrency(String handler) {
				Handlers all = properties.handlers();
				return all.concurrencies().getOrDefault(handler, all.concurrency());
			}

			@Override
			public Duration lease(String handler) {
				Handlers all = properties.handlers();
				return all.leases().getOrDefault(handler, all.lease());
			}

			@Override
			public int attempts() {
				return properties.handlers().attempts();
			}

			@Override
			public Duration maxBackoff() {
				return properties.handlers().maxBackoff();
			}

			@Override
			public Thread newThread(Runnable work) {
				return threads.newThread(work);
			}

			@Override
			public @Nullable Object read(byte[] payload, Type type) {
				return converter.obtain().read(payload, type);
			}

		});
	}

	private static PayloadConverter json(JsonMapper mapper) {
		return (payload, type) -> mapper.readValue(payload, mapper.constructType(type));
	}

	/**
	 * Not lazy, because no other bean depends on it.
	 */
	@Bean
	@Lazy(false)
	SmartInitializingSingleton outboxHandlersCheck(OutboxHandlers handlers, OutboxProperties properties,
			OutboxTableCheck tables, HandlersOwner owner, OutboxActivation activation,
			ConfigurableListableBeanFactory beans) {
		return () -> {
			Set<String> names = handlers.verify();
			if (!names.isEmpty() && beans.getBeanNamesForType(Outbox.class, true, false).length == 0) {
				throw new IdempotentConfigurationException(
						"The Outbox is a bean of the parent context, so it appends no events for the handlers " + names
								+ " of this one.",
						"Declare the beans of these handlers in the parent context.");
			}
			properties.handlers().requireKnown(names);
			properties.topics()
				.keySet()
				.stream()
				.filter((topic) -> topic.startsWith(PREFIX))
				.forEach((topic) -> Handlers.requireKnown("idempotent.outbox.topics.[" + topic + "]",
						topic.substring(PREFIX.length()), names));
			if (!names.isEmpty()) {
				if (tables.requireTables("There is an @OutboxHandler method")) {
					owner.claim(names);
				}
				else {
					owner.claimLater(names);
				}
				activation.activate((names.size() == 1) ? "1 @OutboxHandler method handles events"
						: names.size() + " @OutboxHandler methods handle events");
			}
		};
	}

}
