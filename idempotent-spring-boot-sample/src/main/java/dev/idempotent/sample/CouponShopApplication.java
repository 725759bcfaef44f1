package dev.idempotent.sample;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/**
 * The coupon shop.
 */
@SpringBootApplication
@ConfigurationPropertiesScan
public class CouponShopApplication {

	public static void main(String[] args) {
		SpringApplication.run(CouponShopApplication.class, args);
	}

}
