package dev.idempotent.autoconfigure.outbox;

import java.util.concurrent.CompletableFuture;

import dev.idempotent.IdempotentConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurationPackage;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.modulith.events.EventExternalizationConfiguration;
import org.springframework.modulith.events.Externalized;
import org.springframework.modulith.events.config.EventExternalizationAutoConfiguration;
import org.springframework.modulith.events.support.EventExternalizerModuleListener;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.InstanceOfAssertFactories.THROWABLE;

/**
 * Tests for {@link OutboxModulithAutoConfiguration}.
 */
@ExtendWith(OutputCaptureExtension.class)
class OutboxModulithAutoConfigurationTests {

	private static final String MODE = "spring.modulith.events.externalization.mode=outbox";

	private final ApplicationContextRunner modulith = OnDemandApplication.with(Shop.class)
		.withConfiguration(AutoConfigurations.of(EventExternalizationAutoConfiguration.class,
				OutboxModulithAutoConfiguration.class));

	private final ApplicationContextRunner outbox = this.modulith.withPropertyValues(MODE);

	@Test
	void switchesTheOutboxOn(CapturedOutput output) {
		this.outbox.run((context) -> assertThat(context).hasNotFailed().hasSingleBean(ExternalizedEventRecorder.class));
		assertThat(output).contains("Outbox: on, because Spring Modulith externalizes events to it");
	}

	@Test
	void doesNothingInAnotherModeOrWithoutExternalization() {
		this.modulith
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(ExternalizedEventRecorder.class));
		this.outbox.withPropertyValues("spring.modulith.events.externalization.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(ExternalizedEventRecorder.class));
	}

	@Test
	void refusesASecondRecorder() {
		refuses(this.outbox.withUserConfiguration(ModuleListener.class),
				"Spring Modulith has another recorder of the same events: moduleListener.");
	}

	@Test
	void leavesExternalizationToAnotherRecorderIfTheOutboxIsDisabled() {
		this.outbox.withPropertyValues("idempotent.outbox.enabled=false")
			.withUserConfiguration(ModuleListener.class)
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(ExternalizedEventRecorder.class));
	}

	@Test
	void refusesTheModeWithoutAnOutbox() {
		refuses(this.outbox.withPropertyValues("idempotent.outbox.enabled=false"),
				"spring.modulith.events.externalization.mode is outbox, and there is no outbox.");
	}

	@Test
	void refusesTheModeWithoutModulith() {
		refuses(new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(OutboxModulithAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader("org.springframework.modulith"))
			.withPropertyValues(MODE), "and spring-modulith-events-core is not on the class path.");
	}

	@Test
	void refusesTheModeWithoutTables() {
		refuses(this.outbox.withPropertyValues("idempotent.outbox.initialize-schema=never"),
				"spring.modulith.events.externalization.mode is outbox, and ");
	}

	@Test
	void refusesSerializedExternalization() {
		refuses(this.outbox.withPropertyValues("spring.modulith.events.externalization.serialize-externalization=true"),
				"Spring Modulith's serialized externalization has no effect in an outbox.");
	}

	@Test
	void refusesAPublisherThatDoesNotExist() {
		refuses(this.outbox.withPropertyValues("idempotent.outbox.modulith.publisher=kafak"),
				"idempotent.outbox.modulith.publisher is 'kafak', and no publisher has this prefix.");
	}

	@Test
	void refusesAnEventWhoseTargetNamesNoPublisher() {
		this.outbox.run((context) -> assertThatIllegalArgumentException()
			.isThrownBy(() -> new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
				.executeWithoutResult((status) -> context.publishEvent(new OrderCreated("o-1"))))
			.withMessage("The target 'orders' names no publisher: begin it with one of [test] and a colon, or set "
					+ "idempotent.outbox.modulith.publisher"));
	}

	@Test
	void refusesAnEventForAPublisherWhoseLibraryIsMissing() {
		this.outbox.withPropertyValues("idempotent.outbox.modulith.publisher=test")
			.run((context) -> assertThatIllegalArgumentException()
				.isThrownBy(() -> new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
					.executeWithoutResult((status) -> context.publishEvent(new OrderPaid("o-1"))))
				.withMessage(
						"The target 'kafka:orders' begins with kafka:, and this application has no such publisher: "
								+ "add spring-boot-starter-kafka"));
	}

	@Test
	void refusesAPublisherInAnotherMode() {
		refuses(this.modulith.withPropertyValues("idempotent.outbox.modulith.publisher=test"),
				"idempotent.outbox.modulith.publisher has no effect: spring.modulith.events.externalization.mode is not "
						+ "outbox.");
		this.modulith
			.withPropertyValues("idempotent.outbox.modulith.publisher=test",
					"spring.modulith.events.externalization.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	private static void refuses(ApplicationContextRunner application, String message) {
		application.run((context) -> assertThat(context).getFailure()
			.extracting(NestedExceptionUtils::getMostSpecificCause, THROWABLE)
			.isInstanceOf(IdempotentConfigurationException.class)
			.hasMessageContaining(message));
	}

	@Externalized("orders")
	record OrderCreated(String id) {

	}

	@Externalized("kafka:orders")
	record OrderPaid(String id) {

	}

	@Configuration(proxyBeanMethods = false)
	@AutoConfigurationPackage
	static class Shop {

	}

	/**
	 * As Spring Modulith's modules for brokers have.
	 */
	@Configuration(proxyBeanMethods = false)
	static class ModuleListener {

		@Bean
		EventExternalizerModuleListener moduleListener(EventExternalizationConfiguration configuration) {
			return new EventExternalizerModuleListener(configuration,
					(payload, target) -> CompletableFuture.completedFuture(null));
		}

	}

}
