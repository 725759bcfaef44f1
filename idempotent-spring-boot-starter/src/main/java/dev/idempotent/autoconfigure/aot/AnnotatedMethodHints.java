package dev.idempotent.autoconfigure.aot;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import dev.idempotent.aop.AnnotatedMethod;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.canonical.CanonicalValues;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.outbox.TransactionalOutbox;
import dev.idempotent.saga.Saga;
import dev.idempotent.stream.RedisStreamListener;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;

/**
 * Registers the annotated methods of beans with the types of their parameters and
 * results: expressions read them, Jackson writes and reads them, and their fields are
 * compared. Spring MVC registers the types of web handlers.
 */
final class AnnotatedMethodHints implements BeanRegistrationAotProcessor {

	private static final List<Class<? extends Annotation>> ANNOTATIONS = List.of(Idempotent.class,
			TransactionalOutbox.class, OutboxHandler.class, Saga.class, RedisStreamListener.class);

	private static final CanonicalValues VALUES = new CanonicalValues(List.of());

	@Override
	public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
		List<Method> methods = ANNOTATIONS.stream()
			.flatMap((annotation) -> AnnotatedMethod.findAll(annotation, bean.getBeanClass()).stream())
			.filter((method) -> !method.isWebHandler())
			.map(AnnotatedMethod::method)
			.distinct()
			.toList();
		return methods.isEmpty() ? null
				: (context, code) -> methods.forEach((method) -> register(method, context.getRuntimeHints()));
	}

	private static void register(Method method, RuntimeHints hints) {
		List<Type> types = new ArrayList<>(Stream.of(method.getGenericParameterTypes()).toList());
		types.add(method.getGenericReturnType());
		new BindingReflectionHintsRegistrar().registerReflectionHints(hints.reflection(), types.toArray(Type[]::new));
		types.stream()
			.flatMap((type) -> VALUES.classesOf(type).stream())
			.distinct()
			.forEach((type) -> hints.reflection().registerType(type, MemberCategory.ACCESS_DECLARED_FIELDS));
		hints.reflection().registerMethod(method, ExecutableMode.INVOKE);
	}

}
