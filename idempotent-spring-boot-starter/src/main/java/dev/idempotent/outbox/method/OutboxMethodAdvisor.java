package dev.idempotent.outbox.method;

import java.lang.reflect.Method;

import dev.idempotent.outbox.TransactionalOutbox;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * Advises annotated methods. Has to sit next to the method, within its transaction and
 * within whatever may answer a call without running it.
 */
public final class OutboxMethodAdvisor extends StaticMethodMatcherPointcutAdvisor {

	private final OutboxMethods methods;

	/**
	 * Creates an advisor.
	 * @param methods knows the annotated methods
	 */
	public OutboxMethodAdvisor(OutboxMethods methods) {
		this.methods = methods;
		setClassFilter(new Candidates());
		setAdvice((MethodInterceptor) this::invoke);
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return this.methods.include(method, targetClass);
	}

	private @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		Class<?> type = (target != null) ? AopUtils.getTargetClass(target) : invocation.getMethod().getDeclaringClass();
		return this.methods.invoke(type, invocation);
	}

	private record Candidates() implements ClassFilter {

		@Override
		public boolean matches(Class<?> type) {
			return AnnotationUtils.isCandidateClass(type, TransactionalOutbox.class);
		}

	}

}
