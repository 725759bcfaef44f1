package dev.idempotent.aop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.aop.AdvisorBeanPostProcessor.Placement;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.context.support.GenericApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link AnnotatedMethodAdvisor} with an annotation of its own: one advisor and
 * one post-processor give a further annotation its effect and its check.
 */
class AnnotatedMethodAdvisorTests {

	private final RepeatingAdvisor advisor = new RepeatingAdvisor();

	@Test
	void advisesAnnotatedMethodsAndReadsEachOnce() {
		try (GenericApplicationContext context = start(Echo.class)) {
			assertThat(check(context)).isEqualTo(2);
			Echo echo = context.getBean(Echo.class);
			assertThat(echo.say("a")).isEqualTo("aa");
			assertThat(echo.say("b")).isEqualTo("bb");
			assertThat(echo.call("c")).isEqualTo("ccc");
			assertThat(echo.whisper("d")).isEqualTo("d");
			assertThat(this.advisor.read).hasValue(2);
		}
	}

	@Test
	void advisesMethodsThatImplementAnAnnotatedOne() {
		try (GenericApplicationContext context = start(ByInterface.class)) {
			assertThat(check(context)).isOne();
			assertThat(context.getBean(Saying.class).say("a")).isEqualTo("aa");
		}
	}

	@Test
	void reportsAMethodThatCannotBeAdvised() {
		try (GenericApplicationContext context = start(Unproxyable.class, true)) {
			assertThatExceptionOfType(IdempotentConfigurationException.class).isThrownBy(() -> check(context))
				.withMessage("The @Repeated method " + Unproxyable.class.getName()
						+ ".say(java.lang.String) belongs to a final class, so it cannot be advised.")
				.extracting(IdempotentConfigurationException::getAction)
				.asString()
				.endsWith("or use StringBuilder in code.");
			assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> context.getBean(Unproxyable.class))
				.withRootCauseInstanceOf(IdempotentConfigurationException.class)
				.withMessageContaining("belongs to a final class, so it cannot be advised");
		}
	}

	@Test
	void reportsAnInvalidAnnotation() {
		try (GenericApplicationContext context = start(Never.class)) {
			assertThatExceptionOfType(IdempotentConfigurationException.class).isThrownBy(() -> check(context))
				.withMessage("The @Repeated method " + Never.class.getName() + ".say(java.lang.String) has 0 times.");
		}
	}

	@Test
	void isNeededByTheCheckOfItsAnnotation() {
		DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
		assertThatIllegalStateException().isThrownBy(() -> new AnnotatedMethodsCheck(beans, Repeated.class));
	}

	private GenericApplicationContext start(Class<?> bean) {
		return start(bean, false);
	}

	private GenericApplicationContext start(Class<?> bean, boolean lazy) {
		GenericApplicationContext context = new GenericApplicationContext();
		context.registerBean("repeated", AdvisorBeanPostProcessor.class,
				() -> new AdvisorBeanPostProcessor(this.advisor, Placement.INNERMOST));
		context.registerBean(bean, (definition) -> definition.setLazyInit(lazy));
		context.refresh();
		return context;
	}

	private static int check(GenericApplicationContext context) {
		return new AnnotatedMethodsCheck(context.getDefaultListableBeanFactory(), Repeated.class).check().size();
	}

	@Retention(RetentionPolicy.RUNTIME)
	@interface Repeated {

		int times() default 2;

	}

	static class Echo {

		@Repeated
		public String say(String word) {
			return word;
		}

		@Repeated(times = 3)
		public String call(String word) {
			return word;
		}

		public String whisper(String word) {
			return word;
		}

	}

	interface Saying {

		@Repeated
		String say(String word);

	}

	static class ByInterface implements Saying {

		@Override
		public String say(String word) {
			return word;
		}

	}

	static final class Unproxyable {

		@Repeated
		public String say(String word) {
			return word;
		}

	}

	static class Never {

		@Repeated(times = 0)
		public String say(String word) {
			return word;
		}

	}

	static class RepeatingAdvisor extends AnnotatedMethodAdvisor<Integer> {

		private final AtomicInteger read = new AtomicInteger();

		RepeatingAdvisor() {
			super(Repeated.class, StringBuilder.class);
		}

		@Override
		protected Integer read(AnnotatedMethod method) {
			this.read.incrementAndGet();
			Repeated annotation = method.method().getAnnotation(Repeated.class);
			int times = (annotation != null) ? annotation.times() : 2;
			if (times < 1) {
				throw method.invalid("has " + times + " times", "State 1 or more.", null);
			}
			return times;
		}

		@Override
		protected @Nullable Object invoke(Integer times, MethodInvocation invocation) throws Throwable {
			return String.valueOf(invocation.proceed()).repeat(times);
		}

	}

}
