package dev.idempotent.aop;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AdvisedSupport;
import org.springframework.aop.support.AopUtils;

/**
 * Determines whether an advisor sees each call of a method and its outcome: no advice of
 * the application is inside of it, which could repeat a call or hide its exception.
 */
public final class InnermostAdvice {

	static final String VALIDATION = "org.springframework.validation.beanvalidation.";

	private static final String LIBRARY = "dev.idempotent.";

	private InnermostAdvice() {
	}

	/**
	 * Looks through all proxies of a bean.
	 * @param bean the bean
	 * @param method the method that is called
	 * @param own recognizes the advisor
	 * @return {@code false} also without the advisor, and for a proxy that hides its
	 * advice
	 */
	public static boolean isIn(@Nullable Object bean, Method method, Predicate<Advisor> own) {
		return isLast(false, bean, method, own);
	}

	/**
	 * Adds advisors to all proxies of a bean, unless they are there: one outside of all
	 * other advice of a proxy, and one inside the advice of the application.
	 * @param bean the bean
	 * @param first to be the first of each proxy
	 * @param last to be the last of each outer proxy, except for the advice of this
	 * library
	 * @param innermost to be next to the method, except for that advice
	 * @return {@code false} if the bean has no proxy
	 * @throws IllegalStateException if a proxy accepts no advice
	 */
	static boolean surround(Object bean, Advisor first, Advisor last, Advisor innermost) {
		List<Advised> proxies = new ArrayList<>();
		Object each = bean;
		while (each instanceof Advised advised) {
			proxies.add(0, advised);
			each = targetOf(advised.getTargetSource());
		}
		if (each instanceof SpringProxy
				|| proxies.stream().anyMatch((proxy) -> proxy.indexOf(first) < 0 && proxy.isFrozen())) {
			throw new IllegalStateException("The bean has a proxy that is frozen or opaque");
		}
		for (Advised proxy : proxies) {
			if (proxy.indexOf(first) < 0) {
				proxy.addAdvisor(AdvisorBeanPostProcessor.insideApplication(proxy),
						(proxy == proxies.get(0)) ? innermost : last);
				proxy.addAdvisor(0, first);
			}
		}
		return !proxies.isEmpty();
	}

	/**
	 * Looks behind the proxy that has passed a call to the advisor.
	 */
	static boolean isOf(MethodInvocation call, Advisor own) {
		return call instanceof ProxyMethodInvocation proxied && proxied.getProxy() instanceof Advised advised && isLast(
				isLastOf(advised, false, call.getMethod(), own::equals), call.getThis(), call.getMethod(), own::equals);
	}

	private static boolean isLast(boolean outside, @Nullable Object bean, Method method, Predicate<Advisor> own) {
		boolean last = outside;
		Object each = bean;
		while (each instanceof Advised advised) {
			last = isLastOf(advised, last, method, own);
			each = targetOf(advised.getTargetSource());
		}
		return last && !(each instanceof SpringProxy);
	}

	private static boolean isLastOf(Advised proxy, boolean outside, Method method, Predicate<Advisor> own) {
		boolean last = outside;
		for (Advisor advisor : advisorsOf(proxy)) {
			if (applies(advisor, method, proxy)) {
				last = own.test(advisor) || (last && isTransparent(advisor));
			}
		}
		return last;
	}

	/**
	 * Without a target, the last advice implements the methods of the bean.
	 */
	private static List<Advisor> advisorsOf(Advised proxy) {
		List<Advisor> advisors = Arrays.asList(proxy.getAdvisors());
		return (proxy.getTargetSource() == AdvisedSupport.EMPTY_TARGET_SOURCE && !advisors.isEmpty())
				? advisors.subList(0, advisors.size() - 1) : advisors;
	}

	/**
	 * Bean validation and the advice of this library repeat no call and hide no
	 * exception.
	 */
	private static boolean isTransparent(Advisor advisor) {
		return advisor.getClass().getName().startsWith(LIBRARY)
				|| advisor.getAdvice().getClass().getName().startsWith(VALIDATION);
	}

	private static boolean applies(Advisor advisor, Method method, Advised proxy) {
		Class<?> type = AopUtils.getTargetClass(proxy);
		return !(advisor instanceof PointcutAdvisor pointcut) || (pointcut.getPointcut().getClassFilter().matches(type)
				&& pointcut.getPointcut().getMethodMatcher().matches(method, type));
	}

	/**
	 * The target may differ from call to call, such as the target of a scoped proxy.
	 */
	private static @Nullable Object targetOf(TargetSource source) {
		try {
			Object target = source.getTarget();
			if (target != null && !source.isStatic()) {
				source.releaseTarget(target);
			}
			return target;
		}
		catch (RuntimeException ex) {
			throw ex;
		}
		catch (Exception ex) {
			throw new IllegalStateException("The target of a proxy cannot be determined", ex);
		}
	}

}
