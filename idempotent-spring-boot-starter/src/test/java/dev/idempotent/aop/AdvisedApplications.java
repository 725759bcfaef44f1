package dev.idempotent.aop;

import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.transaction.annotation.EnableTransactionManagement;

/**
 * Applications that change the order of advice.
 */
final class AdvisedApplications {

	private AdvisedApplications() {
	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(order = 0, proxyTargetClass = true)
	static class EarlyTransactions {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(order = Ordered.HIGHEST_PRECEDENCE, proxyTargetClass = true)
	static class FirstTransactions {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	static class Threads {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync(order = 0)
	static class EarlyThreads {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableMethodSecurity
	static class Security {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods
	static class Retries {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableResilientMethods(order = 0)
	static class EarlyRetries {

	}

	@Aspect
	@Order(Ordered.HIGHEST_PRECEDENCE)
	static class OuterAspect {

		@Around("execution(* dev.idempotent.aop.PlacementApplication.Shop.*(..))")
		@Nullable Object around(ProceedingJoinPoint call) throws Throwable {
			return call.proceed();
		}

	}

	@Aspect
	@Order(Ordered.LOWEST_PRECEDENCE)
	static class InnerAspect {

		@Around("execution(* dev.idempotent.aop.PlacementApplication.Shop.*(..))")
		@Nullable Object around(ProceedingJoinPoint call) throws Throwable {
			return call.proceed();
		}

	}

}
