package dev.idempotent.idempotency.method;

import java.util.List;
import java.util.Objects;
import java.util.function.Function;

import dev.idempotent.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Lazy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A call round the proxy is warned of by the names of who calls whom, and no other is.
 */
@ExtendWith(OutputCaptureExtension.class)
class SelfInvocationsTests {

	@ParameterizedTest
	@ValueSource(classes = { Direct.class, InLambda.class, ByReference.class, InheritedCall.class, Recursive.class })
	void warnsOfACallToItself(Class<?> bean, CapturedOutput output) {
		start(bean);
		Class<?> caller = (bean == InheritedCall.class) ? Calling.class : bean;
		assertThat(output).containsOnlyOnce(caller.getName() + ".call calls the @Idempotent method " + caller.getName()
				+ ".place of its own object, round its proxy");
	}

	@ParameterizedTest
	@ValueSource(classes = { ByInjectedSelf.class, ByProvidedSelf.class, ByParameter.class, BySuper.class,
			ByInnerLambda.class, ByAnotherClass.class })
	void saysNothingOfCallsThatMayPassTheProxy(Class<?> bean, CapturedOutput output) {
		start(bean);
		assertThat(output).contains("once per key").doesNotContain("round its proxy");
	}

	@Test
	void warnsOnceOfTwoBeansOfAClass(CapturedOutput output) {
		MethodApplication.with()
			.withBean("one", Direct.class)
			.withBean("two", Direct.class)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce("round its proxy");
	}

	private static void start(Class<?> bean) {
		MethodApplication.with(bean)
			.withAllowCircularReferences(true)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	static class Direct {

		public String call(String id) {
			return place(id);
		}

		@Idempotent(key = "#id")
		public String place(String id) {
			return id;
		}

	}

	static class InLambda {

		public List<String> call(List<String> ids) {
			return ids.stream().map((id) -> place(id) + id).toList();
		}

		@Idempotent(key = "#id")
		public String place(String id) {
			return id;
		}

	}

	static class ByReference {

		public List<String> call(List<String> ids) {
			return ids.stream().map(this::place).toList();
		}

		@Idempotent(key = "#id")
		public String place(String id) {
			return id;
		}

	}

	static class Recursive {

		@Idempotent(key = "#id")
		public String call(String id) {
			return id.isEmpty() ? id : place(id.substring(1));
		}

		@Idempotent(key = "#id")
		public String place(String id) {
			return id;
		}

	}

	abstract static class Calling {

		public String call(String id) {
			return place(id);
		}

		public abstract String place(String id);

	}

	static class InheritedCall extends Calling {

		@Override
		@Idempotent(key = "#id")
		public String place(String id) {
			return id;
		}

	}

	static class Placing {

		@Idempotent(key = "#id")
		public String place(String id) {
			return id;
		}

	}

	static class ByInjectedSelf extends Placing {

		private final ByInjectedSelf self;

		ByInjectedSelf(@Lazy ByInjectedSelf self) {
			this.self = self;
		}

		public String call(String id) {
			return this.self.place(id);
		}

		public Function<String, String> later() {
			return this.self::place;
		}

	}

	static class ByProvidedSelf extends Placing {

		private final ObjectProvider<ByProvidedSelf> self;

		ByProvidedSelf(ObjectProvider<ByProvidedSelf> self) {
			this.self = self;
		}

		public String call(String id) {
			return this.self.getObject().place(id);
		}

	}

	static class ByParameter extends Placing {

		public String call(ByParameter other, String id) {
			return other.place(id);
		}

	}

	static class BySuper extends Placing {

		@Override
		@Idempotent(key = "#id")
		public String place(String id) {
			return super.place(id);
		}

	}

	static class ByInnerLambda extends Placing {

		private @Nullable ByInnerLambda self;

		public List<String> call(List<String> ids) {
			return ids.stream().map((id) -> Objects.requireNonNull(this.self).place(id)).toList();
		}

	}

	static class ByAnotherClass extends Placing {

		public String call(Placing other, String id) {
			return other.place(id);
		}

	}

}
