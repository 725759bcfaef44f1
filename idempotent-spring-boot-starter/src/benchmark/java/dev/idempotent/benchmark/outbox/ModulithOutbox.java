package dev.idempotent.benchmark.outbox;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import io.lettuce.core.api.async.RedisStreamAsyncCommands;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DeferredImportSelector;
import org.springframework.context.annotation.Import;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.modulith.events.EventExternalizationConfiguration;
import org.springframework.modulith.events.RoutingTarget;
import org.springframework.modulith.events.support.EventExternalizationTransport;
import org.springframework.modulith.events.support.EventExternalizerModuleListener;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import tools.jackson.databind.json.JsonMapper;

/**
 * The event publication registry of Spring Modulith, JDBC, which externalizes events
 * after their commit; docs/benchmark.md says how it is tuned. Without delivery, its
 * executor is paused.
 */
final class ModulithOutbox implements OutboxContender {

	static final String NAME = "modulith";

	private static final String PACKAGE = "org.springframework.modulith.events.";

	private final Shop shop;

	private final ThreadPoolTaskExecutor executor;

	private final EventStream stream;

	ModulithOutbox(Servers servers, int threads) {
		this.shop = Shop.open(NAME, servers, Externalization.class, "idempotent.enabled=false",
				"idempotent.outbox.enabled=false", "namastack.outbox.enabled=false",
				"spring.modulith.events.jdbc.schema-initialization.enabled=true",
				"spring.modulith.events.completion-mode=delete", "benchmark.threads=" + threads);
		this.executor = this.shop.application().bean(ThreadPoolTaskExecutor.class);
		this.stream = EventStream.of(servers.redis(), NAME);
		this.shop.application().bean(StreamTransport.class).connect(this.stream.commands());
		stopDelivery();
	}

	@Override
	public String name() {
		return NAME;
	}

	@Override
	public long place() {
		return this.shop.place(this.shop.application()::publish);
	}

	@Override
	public void startDelivery() {
		this.executor.start();
	}

	@Override
	public void stopDelivery() {
		this.executor.stop();
	}

	@Override
	public Shop shop() {
		return this.shop;
	}

	@Override
	public EventStream stream() {
		return this.stream;
	}

	/**
	 * Events are delivered from memory, and resubmitted only when asked to.
	 */
	@Override
	public boolean hasBacklog() {
		return false;
	}

	@Override
	public void close() {
		startDelivery();
		this.shop.close();
		this.stream.close();
	}

	/**
	 * The auto-configurations of Spring Modulith, which the tests switch off.
	 */
	static final class Registry implements DeferredImportSelector {

		@Override
		public String[] selectImports(AnnotationMetadata source) {
			return new String[] { PACKAGE + "jackson.JacksonEventSerializationConfiguration",
					PACKAGE + "jdbc.JdbcEventPublicationAutoConfiguration",
					PACKAGE + "config.EventPublicationAutoConfiguration",
					PACKAGE + "config.EventExternalizationAutoConfiguration" };
		}

	}

	@EnableAutoConfiguration
	@Import({ InMemoryHandlers.Threads.class, Registry.class, StatementCount.class })
	@Configuration(proxyBeanMethods = false)
	static class Externalization {

		@Bean
		static EventExternalizationConfiguration orders() {
			return EventExternalizationConfiguration.externalizing()
				.select((event) -> event instanceof OrderPlaced)
				.build();
		}

		@Bean
		StreamTransport transport(JsonMapper json) {
			return new StreamTransport(json);
		}

		@Bean
		EventExternalizerModuleListener externalizer(EventExternalizationConfiguration configuration,
				StreamTransport transport) {
			return new EventExternalizerModuleListener(configuration, transport);
		}

	}

	/**
	 * Sends an event, and completes when Redis has it.
	 */
	static final class StreamTransport implements EventExternalizationTransport {

		private final JsonMapper json;

		private volatile @Nullable RedisStreamAsyncCommands<String, String> redis;

		StreamTransport(JsonMapper json) {
			this.json = json;
		}

		void connect(RedisStreamAsyncCommands<String, String> commands) {
			this.redis = commands;
		}

		@Override
		public CompletableFuture<?> externalize(Object order, RoutingTarget target) {
			return Objects.requireNonNull(this.redis)
				.xadd(EventStream.nameFor(NAME),
						Map.of("type", "order.placed", "payload", this.json.writeValueAsString(order)))
				.toCompletableFuture();
		}

	}

}
