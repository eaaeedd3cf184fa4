/* What the two source files of this plugin share. */
#ifndef FAKE_DEVICE_H_
#define FAKE_DEVICE_H_

/* The type of the devices: "/device:FAKE:0". */
#define FAKE_DEVICE_TYPE "FAKE"

#endif /* FAKE_DEVICE_H_ */
