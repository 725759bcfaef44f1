package dev.idempotent.idempotency.method;

import java.lang.reflect.Method;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ClassFilter;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * Advises the annotated methods of one guarantee, which decides where the advice has to
 * sit.
 */
public final class IdempotentMethodAdvisor extends StaticMethodMatcherPointcutAdvisor {

	private final IdempotentMethods methods;

	private final Guarantee guarantee;

	/**
	 * Creates an advisor.
	 * @param methods knows the annotated methods
	 * @param guarantee that of the methods to advise
	 */
	public IdempotentMethodAdvisor(IdempotentMethods methods, Guarantee guarantee) {
		this.methods = methods;
		this.guarantee = guarantee;
		setClassFilter(new Candidates());
		setAdvice((MethodInterceptor) this::invoke);
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return this.methods.guaranteeOf(method, targetClass) == this.guarantee;
	}

	private @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = invocation.getThis();
		Class<?> type = (target != null) ? AopUtils.getTargetClass(target) : invocation.getMethod().getDeclaringClass();
		return this.methods.invoke(type, invocation.getMethod(), invocation.getArguments(), invocation::proceed);
	}

	private record Candidates() implements ClassFilter {

		@Override
		public boolean matches(Class<?> type) {
			return AnnotationUtils.isCandidateClass(type, Idempotent.class);
		}

	}

}
