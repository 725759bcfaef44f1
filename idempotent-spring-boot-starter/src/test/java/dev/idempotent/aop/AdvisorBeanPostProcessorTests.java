package dev.idempotent.aop;

import java.util.stream.Stream;

import dev.idempotent.aop.AdvisorBeanPostProcessor.Placement;
import dev.idempotent.outbox.method.OutboxMethodAdvisor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.aop.framework.autoproxy.InfrastructureAdvisorAutoProxyCreator;
import org.springframework.context.annotation.AnnotatedBeanDefinitionReader;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.kafka.annotation.KafkaListenerAnnotationBeanPostProcessor;
import org.springframework.resilience.annotation.RetryAnnotationBeanPostProcessor;
import org.springframework.scheduling.annotation.AsyncAnnotationBeanPostProcessor;
import org.springframework.scheduling.annotation.ScheduledAnnotationBeanPostProcessor;
import org.springframework.transaction.annotation.EnableTransactionManagement;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AdvisorBeanPostProcessor} among the post-processors of Spring.
 */
class AdvisorBeanPostProcessorTests {

	private final AdvisorBeanPostProcessor processor = new AdvisorBeanPostProcessor(
			new OutboxMethodAdvisor(() -> null, () -> null, (topic) -> topic, OutboxMethodAdvisor.Responses.NONE),
			Placement.INNERMOST);

	static Stream<Ordered> postProcessorsOfSpring() {
		return Stream.of(new KafkaListenerAnnotationBeanPostProcessor<>(), new ScheduledAnnotationBeanPostProcessor(),
				new AsyncAnnotationBeanPostProcessor(), new RetryAnnotationBeanPostProcessor());
	}

	@ParameterizedTest
	@MethodSource("postProcessorsOfSpring")
	void runsBeforeThoseThatRegisterListenersOrChangeThreads(Ordered other) {
		assertThat(this.processor.getOrder()).isLessThan(other.getOrder());
	}

	@Test
	void runsAfterTheAutoProxyCreator() {
		try (GenericApplicationContext context = new GenericApplicationContext()) {
			new AnnotatedBeanDefinitionReader(context).register(Transactions.class);
			context.refresh();
			assertThat(this.processor.getOrder())
				.isGreaterThan(context.getBean(InfrastructureAdvisorAutoProxyCreator.class).getOrder());
		}
	}

	@EnableTransactionManagement
	static class Transactions {

	}

}
